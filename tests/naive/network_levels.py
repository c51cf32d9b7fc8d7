"""The weighted reading of random networks, written as its formulas are, row by row over records of names."""

from __future__ import annotations

import numpy as np

ETA, MOST = 0.2, 5.0


class NaiveLevels:
    """What has been seen, and the weights."""

    def __init__(self, names, classes, alpha):
        self.names, self.classes, self.alpha = names, classes, alpha
        self.records, self.labels = [], []
        e, k = 3 * len(names), len(classes)
        self.u, self.v, self.b = np.zeros(e), np.zeros((e, k)), np.zeros(k)
        self.u_mean, self.v_mean, self.b_mean = np.zeros(e), np.zeros((e, k)), np.zeros(k)
        self.u_squares, self.v_squares, self.b_squares = np.zeros(e), np.zeros((e, k)), np.zeros(k)
        self.rows = 0

    def probability(self, row, name, parents, c):
        """P(x | c, parents) with `alpha` rows more of each value met so far."""
        same = [
            r
            for r, label in zip(self.records, self.labels, strict=True)
            if label == c and all(r[p] == row[p] for p in parents)
        ]
        values = len({r[name] for r in self.records})
        return (sum(r[name] == row[name] for r in same) + self.alpha) / (len(same) + self.alpha * values)

    def level(self, row, i, sets):
        """log of the mean over parent sets, for every class; 0 where the value is new."""
        met = {name: {r[name] for r in self.records} for name in self.names}
        if row[self.names[i]] not in met[self.names[i]]:
            return np.zeros(len(self.classes))
        own = [
            ([self.names[j] for j in parents], u)
            for parents, u in sets
            if all(row[self.names[j]] in met[self.names[j]] for j in parents)
        ] or [([], 1.0)]
        return np.array(
            [
                np.log(sum(u * self.probability(row, self.names[i], p, c) for p, u in own))
                for c in self.classes
            ]
        )

    def inputs(self, row, terms, prior, known):
        """Z, level by level."""
        m = len(self.names)
        z = np.zeros((3 * m, len(self.classes)))
        for i in range(m):
            mine = [
                ([p for p in s[1:] if p >= 0], u)
                for s, u in zip(terms.sets.tolist(), terms.u.tolist(), strict=True)
                if s[0] == i
            ]
            one = [([p], u / len(ps)) for ps, u in mine for p in ps] + [([], u) for ps, u in mine if not ps]
            before = np.zeros(len(self.classes))
            for level, sets in enumerate(([([], 1.0)], one, mine)):
                said = self.level(row, i, sets)
                lifted = np.zeros(len(said))
                lifted[known] = said[known] - np.log(np.sum(np.exp(prior[known] + said[known])))
                if not np.any(said[known]):
                    lifted[:] = 0.0
                z[level * m + i, known] = np.clip(lifted - before, -MOST, MOST)[known]
                before = lifted
        return z

    def prior(self):
        """log (N_k + 1 / J) / (N + 1) of the classes met."""
        n = np.array([self.labels.count(c) for c in self.classes], dtype=float)
        known = n > 0
        out = np.full(len(n), -np.inf)
        out[known] = np.log((n[known] + 1 / max(1, known.sum())) / (n.sum() + 1))
        return out, known

    def scores(self, z, u, v, b):
        prior, known = self.prior()
        h = np.where(known, prior + b + ((1 + u[:, None] + v) * z).sum(axis=0), -np.inf)
        return h

    def test_then_train(self, row, label, terms):
        """H - log prior by the mean weights, as it stood before the row."""
        prior, known = self.prior()
        z = (
            self.inputs(row, terms, prior, known)
            if known.any()
            else np.zeros((len(self.u), len(self.classes)))
        )
        h = self.scores(z, self.u_mean, self.v_mean, self.b_mean)
        said = np.where(known, h - np.where(known, prior, 0.0), 0.0)
        c = self.classes.index(label)
        if known[c]:
            self.step(z, c, known)
        self.rows += 1
        self.records.append(row)
        self.labels.append(label)
        return said

    def step(self, z, c, known):
        h = self.scores(z, self.u, self.v, self.b)
        p = np.exp(h - h[known].max())
        p /= p.sum()
        p[c] -= 1
        g_b, g_v, g_u = np.where(known, p, 0.0), p * z, (p * z).sum(axis=1)
        self.b_squares += g_b**2
        self.v_squares += g_v**2
        self.u_squares += g_u**2
        d_b = -ETA * g_b / np.sqrt(1 + self.b_squares)
        d_v = -ETA * g_v / np.sqrt(1 + self.v_squares)
        d_u = -ETA * g_u / np.sqrt(1 + self.u_squares)
        change = (d_b + ((d_u[:, None] + d_v) * z).sum(axis=0))[known]
        spread, gain = change.max() - change.min(), -(p[known] * change).sum()
        share = 1.0 if spread == 0 else (1 / (1 + spread**2 / (4 * gain)) if gain > 0 else 0.0)
        self.b, self.v, self.u = self.b + share * d_b, self.v + share * d_v, self.u + share * d_u
        newest = 2 / (self.rows + 2)
        self.b_mean += newest * (self.b - self.b_mean)
        self.v_mean += newest * (self.v - self.v_mean)
        self.u_mean += newest * (self.u - self.u_mean)
