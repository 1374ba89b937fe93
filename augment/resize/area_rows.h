/* augment/resize/area_rows.h - across the rows: a weighed row, or added to what there is. Who
 * includes it defines ENTRY(name): the words before a function, and its name, reals: a vector, and
 * V(operation): its name on them. */
ENTRY(area_y)(float *sum, const float *row, float weight, bool add, size_t n)
{
    const reals w = V(set1_ps)(weight);
    for (size_t i = 0; i < n; i += sizeof(w) / sizeof(*row)) {
        reals v = w * V(loadu_ps)(row + i);
        if (add)
            v = V(loadu_ps)(sum + i) + v;
        V(storeu_ps)(sum + i, v);
    }
}
