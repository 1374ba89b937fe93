/* formats/ctf/ctf_values_entries.h - a variant of ctf_values.h over its dense_values() and
 * sparse_values(). Who includes it defines ENTRY(name): the words before a function, and its
 * name.
 */
ENTRY(dense_float)(const uint8_t **at, const uint8_t *safe, uint8_t *to, uint32_t most)
{
    return dense_values(at, safe, to, most, 4);
}

ENTRY(dense_double)(const uint8_t **at, const uint8_t *safe, uint8_t *to, uint32_t most)
{
    return dense_values(at, safe, to, most, 8);
}

ENTRY(sparse_float)
(const uint8_t **at, const uint8_t *safe, uint8_t *values, uint8_t *indices, uint32_t dim)
{
    return sparse_values(at, safe, values, indices, dim, 4);
}

ENTRY(sparse_double)
(const uint8_t **at, const uint8_t *safe, uint8_t *values, uint8_t *indices, uint32_t dim)
{
    return sparse_values(at, safe, values, indices, dim, 8);
}
