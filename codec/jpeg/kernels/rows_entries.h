/* codec/jpeg/kernels/rows_entries.h - rows by the sampling of chroma, a loop each, over row(). Who
 * includes it defines ENTRY(name): the words before a function, and its name. */
ENTRY(row_444)(const struct kernel_row *r)
{
    row(r, FULL);
}

ENTRY(row_422)(const struct kernel_row *r)
{
    row(r, HALF_ACROSS);
}

ENTRY(row_420)(const struct kernel_row *r)
{
    row(r, HALF_BOTH);
}
