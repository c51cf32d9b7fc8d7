/* What the nodes of an export share; only what is called is written out. REAL is float or double. */

static int usable(REAL x) { return fabsSUFFIX(x) <= (REAL)BEYOND; }

static int interval(REAL x, const REAL *cuts, int n)
{
    int low = 0, high = n;
    if (!usable(x))
        return -1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (x > cuts[middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int possible(const REAL *v, int n)
{
    int i;
    for (i = 0; i < n; i++)
        if (v[i] > -INFINITY)
            return 1;
    return 0;
}

static REAL log_sum(const REAL *v, int n)
{
    REAL top = -INFINITY, sum = 0;
    int i;
    for (i = 0; i < n; i++)
        if (v[i] > top)
            top = v[i];
    if (!(top > -INFINITY))
        return top;
    for (i = 0; i < n; i++)
        sum += expSUFFIX(v[i] - top);
    return top + logSUFFIX(sum);
}

static void log_softmax(REAL *v, int n)
{
    REAL top = -INFINITY, sum = 0;
    int i;
    for (i = 0; i < n; i++)
        if (v[i] > top)
            top = v[i];
    if (!(top > -INFINITY))
        return;
    for (i = 0; i < n; i++)
        sum += expSUFFIX(v[i] - top);
    for (i = 0; i < n; i++)
        v[i] = v[i] - top - logSUFFIX(sum);
}

static int find(const char *names, const int *starts, int n, const char *text, int length)
{
    int low = 0, high = n;
    while (low < high) {
        const int middle = (low + high) / 2;
        const unsigned char *name = (const unsigned char *)names + starts[middle];
        const int size = starts[middle + 1] - starts[middle];
        int i = 0, order;
        while (i < size && i < length && name[i] == (unsigned char)text[i])
            i++;
        order = i < size && i < length ? (int)name[i] - (int)(unsigned char)text[i] : size - length;
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static REAL mass(REAL a, REAL b)
{
    const REAL root = (REAL)0.7071067811865476;
    if (b - a < (REAL)1e-5)
        return (b - a) * expSUFFIX((REAL)-0.5 * ((a + b) / 2) * ((a + b) / 2) - (REAL)0.9189385332046727);
    if (a < 0)
        return (erfSUFFIX(b * root) + erfSUFFIX(-a * root)) / 2;
    return (erfcSUFFIX(a * root) - erfcSUFFIX(b * root)) / 2;
}

static REAL log_far_mass(REAL a, REAL b)
{
    REAL width, lost;
    a = a < (REAL)FAR_AWAY ? a : (REAL)FAR_AWAY;
    width = b > a ? (b - a < 6 ? b - a : 6) : 0;
    if (width < (REAL)1e-5)
        return (REAL)-0.5 * (a + width / 2) * (a + width / 2) - (REAL)0.9189385332046727
            + logSUFFIX(width > (REAL)SMALLEST ? width : (REAL)SMALLEST);
    lost = a / (a + width) * expSUFFIX(-width * (a + width / 2));
    return (REAL)-0.5 * a * a - (REAL)0.9189385332046727 - logSUFFIX(a) + log1pSUFFIX(-lost);
}

static REAL density(REAL x, const REAL *centres, const REAL *weights, const REAL *extra, int m,
    REAL width, REAL half)
{
    REAL total = 0, found = 0, best = -INFINITY, sum = 0;
    int v, pass;
    for (v = 0; v < m; v++)
        if (weights[v] > 0) {
            const REAL d = fabsSUFFIX(x - centres[v]);
            const REAL own = extra[v] > 0 ? sqrtSUFFIX(width * width + extra[v]) : width;
            total += weights[v];
            if ((d - half) / own < 38)
                found += weights[v] * mass((d - half) / own, (d + half) / own);
        }
    if (found > (REAL)FAINTEST * total)
        return logSUFFIX(found) - logSUFFIX(total);
    for (pass = 0; pass < 2; pass++)
        for (v = 0; v < m; v++)
            if (weights[v] > 0) {
                const REAL d = fabsSUFFIX(x - centres[v]);
                const REAL own = extra[v] > 0 ? sqrtSUFFIX(width * width + extra[v]) : width;
                const REAL one = logSUFFIX(weights[v]) + log_far_mass((d - half) / own, (d + half) / own);
                if (pass == 0)
                    best = one > best ? one : best;
                else
                    sum += expSUFFIX(one - best);
            }
    return best + logSUFFIX(sum) - logSUFFIX(total);
}
