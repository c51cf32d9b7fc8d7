"""Members followed by their record, slowly and plainly: shares by the rule of fixed share over the pool's twin."""

from __future__ import annotations

import numpy as np

from tests.naive.forest import Pool


class Forgetful(Pool):
    """The pool of opinions, its record fading row by row."""

    def __init__(self, opinions, k, eta, forget):
        super().__init__(opinions, k, eta)
        self.forget = forget

    def learn(self, opinions, classes, label, weight):
        z, prior, _, _ = self.predict(opinions, classes)
        error = self._proba(self.u, self.v, z, prior)
        error[label] -= 1.0
        inputs = np.vstack([z, np.ones_like(prior)])
        g = weight * error * inputs
        self.v_squares = self.forget * self.v_squares + g**2
        whole = g[:-1].sum(axis=1)
        self.u_squares = self.forget * self.u_squares + whole**2
        step_v = -self.eta * g / np.sqrt(1.0 + self.v_squares)
        step_u = -self.eta * whole / np.sqrt(1.0 + self.u_squares)
        change = (step_v * inputs).sum(axis=0) + (step_u[:, None] * z).sum(axis=0)
        spread, gain = change.max() - change.min(), -(error * change).sum()
        share = 1.0 if spread == 0 else 1.0 / (1.0 + spread**2 / (4.0 * gain)) if gain > 0 else 0.0
        self.u, self.v = self.u + share * step_u, self.v + share * step_v
        newest = max(2.0 / (self.rows + 2.0), 1.0 - self.forget)
        self.u_mean += newest * (self.u - self.u_mean)
        self.v_mean += newest * (self.v - self.v_mean)
        self.rows += 1


class Followed:
    """Shares of members, mean and pool, moved by what each gave the label."""

    def __init__(self, members, k, eta, forget, back):
        self.back, self.pool = back, Forgetful(members, k, eta, forget)
        self.start = np.array([0.4 / members] * members + [0.3, 0.3])
        self.shares = self.start.copy()

    def said(self, opinions, classes):
        """[E, K] what every expert says."""
        mean, pooled = self.pool.predict(opinions, classes)[2]
        return np.vstack([opinions, mean, pooled])

    def learn(self, opinions, classes, label):
        """The answer, then the row."""
        said = self.said(opinions, classes)
        answer = self.shares @ said
        moved = self.shares * np.maximum(said[:, label], 1e-9)
        self.shares = (1 - self.back) * moved / moved.sum() + self.back * self.start
        self.pool.learn(opinions, classes, label, 1.0)
        return answer
