/* An array as sqArray_t becomes the words that compiled code takes: part of the text of programs that are built with
 * this interface, behind sequoia.h and what entry points share, of which it uses strata_reject() and STRATA_CODES. An
 * error that is raised may be handled by a jump out of the call, so nothing is held then. */

/* Fills in the words of the logical array. */
static int strata_array(const char* entry, const char* name, const sqArray_t* a, unsigned rank, uint64_t bytes,
                        uint64_t alignment, int64_t* words) {
  const int64_t most = (int64_t)1 << 47;
  if (!a)
    return strata_reject(STRATA_CODES "null-argument", "array '%s' of %s is a null pointer", name, entry);
  if (a->numDims != rank)
    return strata_reject(STRATA_CODES "wrong-rank", "array '%s' of %s is to have %u dimension(s), not the %u given",
                         name, entry, rank, a->numDims);
  if (a->elmtSize != bytes)
    return strata_reject(STRATA_CODES "wrong-element",
                         "elements of array '%s' of %s are to take %lu bytes each, not the %lu given", name, entry,
                         (unsigned long)bytes, a->elmtSize);
  if (a->contigDim < 0 || a->contigDim >= (int)rank)
    return strata_reject(
        STRATA_CODES "wrong-layout",
        "array '%s' of %s has no contiguous dimension: its contigDim is %d, and its dimensions are 0 to %u", name,
        entry, a->contigDim, rank - 1);
  const unsigned contiguous = (unsigned)a->contigDim;
  int64_t stride = 1, first = 0;
  int empty = 0, wraps = 0;
  /* The contiguous dimension varies fastest, then the others from the last to the first. */
  for (unsigned step = 0; step <= rank; ++step) {
    const unsigned d = step == 0 ? contiguous : rank - step;
    if (step > 0 && d == contiguous)
      continue;
    if (a->numElmts[d] > a->pitch[d] || a->offset[d] > a->pitch[d] - a->numElmts[d])
      return strata_reject(STRATA_CODES "wrong-layout",
                           "dimension %u of array '%s' of %s has %lu elements from %lu on, in a physical array of %lu",
                           d, name, entry, a->numElmts[d], a->offset[d], a->pitch[d]);
    empty |= a->numElmts[d] == 0;
    words[1 + d] = (int64_t)a->numElmts[d];
    words[1 + rank + d] = stride;
    wraps |= __builtin_mul_overflow(stride, (int64_t)a->offset[d], &words[0]) ||
             __builtin_add_overflow(first, words[0], &first);
    wraps |=
        a->pitch[d] > (sqSize_t)most || __builtin_mul_overflow(stride, (int64_t)a->pitch[d], &stride) || stride > most;
  }
  if (wraps && !empty)
    return strata_reject(STRATA_CODES "wrong-layout", "array '%s' of %s is larger than what can be addressed", name,
                         entry);
  for (unsigned d = 0; empty && d < rank; ++d)
    words[1 + rank + d] = 1;
  if (!a->ptr && !empty)
    return strata_reject(STRATA_CODES "null-argument", "array '%s' of %s has no elements to point to", name, entry);
  if ((uintptr_t)a->ptr % alignment)
    return strata_reject(STRATA_CODES "misaligned",
                         "the elements of array '%s' of %s begin at no multiple of %lu bytes", name, entry,
                         (unsigned long)alignment);
  words[0] = (int64_t)(uintptr_t)((const char*)a->ptr + (empty ? 0 : first * (int64_t)bytes));
  return 1;
}
