/* What the C functions of entry points share: part of the text of every built program, after sequoia.h and
 * strata_abi.h. Functions that check return 1 when all is well; else the error has been raised, and whoever handles it
 * may jump out of the call, so nothing is held then. An array is known by its words: a pointer, the extents, the
 * strides in elements. */

static int strata_reject(const char* code, const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  sqRaiseError(code, text);
  return 0;
}

static int64_t strata_quotient(int64_t a, int64_t b) {
  return b == 0 || (b == -1 && a == INT64_MIN) ? 0 : a / b;
}
static int64_t strata_modulo(int64_t a, int64_t b) {
  return b > 0 ? (a % b + b) % b : 0;
}
static int64_t strata_floor_divide(int64_t a, int64_t b) {
  return b > 0 ? (a - strata_modulo(a, b)) / b : 0;
}
static int64_t strata_ceiling_divide(int64_t a, int64_t b) {
  return -strata_floor_divide(-a, b);
}

/* Fills in the words of the logical array. */
static int strata_array(const char* entry, const char* name, const sqArray_t* a, unsigned rank, sqSize_t bytes,
                        sqSize_t alignment, int64_t* words) {
  const int64_t most = (int64_t)1 << 47;
  if (!a)
    return strata_reject("sequoia-null-argument", "array '%s' of %s is a null pointer", name, entry);
  if (a->numDims != rank)
    return strata_reject("sequoia-wrong-rank", "array '%s' of %s is to have %u dimension(s), not the %u given", name,
                         entry, rank, a->numDims);
  if (a->elmtSize != bytes)
    return strata_reject("sequoia-wrong-element",
                         "elements of array '%s' of %s are to take %lu bytes each, not the %lu given", name, entry,
                         bytes, a->elmtSize);
  if (a->contigDim < 0 || a->contigDim >= (int)rank)
    return strata_reject(
        "sequoia-wrong-layout",
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
      return strata_reject("sequoia-wrong-layout",
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
    return strata_reject("sequoia-wrong-layout", "array '%s' of %s is larger than what can be addressed", name, entry);
  for (unsigned d = 0; empty && d < rank; ++d)
    words[1 + rank + d] = 1;
  if (!a->ptr && !empty)
    return strata_reject("sequoia-null-argument", "array '%s' of %s has no elements to point to", name, entry);
  if ((uintptr_t)a->ptr % alignment)
    return strata_reject("sequoia-misaligned", "the elements of array '%s' of %s begin at no multiple of %lu bytes",
                         name, entry, alignment);
  words[0] = (int64_t)(uintptr_t)((const char*)a->ptr + (empty ? 0 : first * (int64_t)bytes));
  return 1;
}

static int strata_pointer(const char* entry, const char* name, const void* pointer, sqSize_t alignment) {
  if (!pointer)
    return strata_reject("sequoia-null-argument", "argument '%s' of %s is a null pointer", name, entry);
  if ((uintptr_t)pointer % alignment)
    return strata_reject("sequoia-misaligned", "argument '%s' of %s lies at no multiple of %lu bytes", name, entry,
                         alignment);
  return 1;
}

static int strata_extent(const char* entry, const char* name, unsigned dimension, int64_t extent, int64_t stated,
                         const char* text) {
  if (extent == stated)
    return 1;
  return strata_reject("sequoia-size-mismatch",
                       "dimension %u of array '%s' of %s has %ld elements; it is to have %s = %ld", dimension, name,
                       entry, (long)extent, text, (long)stated);
}

/* ---- overlap ---- */

/* A box of elements, its dimensions by falling stride. Within a stride lies all that the later dimensions span: that is
 * how arrays within arrays are, and what keeps the searches below short. */
typedef struct {
  int64_t base, bytes;                                        /* address of the first element; of one element */
  int64_t extents[SQ_MAX_DIMS + 1], strides[SQ_MAX_DIMS + 1]; /* the words of an element may be a dimension */
  unsigned rank;
  int empty;
} StrataBox;

static StrataBox strata_box(const int64_t* words, unsigned rank, int64_t bytes) {
  StrataBox box = {words[0], bytes, {0}, {0}, rank, 0};
  for (unsigned d = 0; d < rank; ++d) {
    unsigned at = d;
    for (; at > 0 && box.strides[at - 1] < words[1 + rank + d]; --at) {
      box.strides[at] = box.strides[at - 1];
      box.extents[at] = box.extents[at - 1];
    }
    box.extents[at] = words[1 + d];
    box.strides[at] = words[1 + rank + d];
    box.empty |= words[1 + d] == 0;
  }
  return box;
}

/* Elements from the first to the last of dimensions `from` on, those in between included. */
static int64_t strata_span(const StrataBox* box, unsigned from) {
  int64_t span = 1;
  for (unsigned d = from; d < box->rank; ++d)
    span += (box->extents[d] - 1) * box->strides[d];
  return span;
}

/* Whether an element of dimensions `from` on, the first of them at `base`, has a byte in [low, high). */
static int strata_touches(const StrataBox* box, unsigned from, int64_t base, int64_t low, int64_t high) {
  const int64_t size = strata_span(box, from) * box->bytes;
  if (base >= high || base + size <= low)
    return 0;
  if (from == box->rank || (base >= low && base + size <= high))
    return 1;
  const int64_t step = box->strides[from] * box->bytes, inner = strata_span(box, from + 1) * box->bytes;
  int64_t first = low - inner - base < 0 ? 0 : (low - inner - base) / step;
  for (int64_t i = first; i < box->extents[from] && base + i * step < high; ++i)
    if (strata_touches(box, from + 1, base + i * step, low, high))
      return 1;
  return 0;
}

/* Whether elements of two boxes with equal strides are the same one, `apart` elements from one base to the other. */
static int strata_meets(const StrataBox* a, const StrataBox* b, unsigned from, int64_t apart) {
  if (from == a->rank)
    return apart == 0;
  const int64_t stride = a->strides[from];
  int64_t reach = 0;
  for (unsigned d = from + 1; d < a->rank; ++d)
    reach += (a->extents[d] > b->extents[d] ? a->extents[d] - 1 : b->extents[d] - 1) * a->strides[d];
  int64_t low = strata_ceiling_divide(apart - reach, stride), high = strata_floor_divide(apart + reach, stride);
  if (low < -(b->extents[from] - 1))
    low = -(b->extents[from] - 1);
  if (high > a->extents[from] - 1)
    high = a->extents[from] - 1;
  for (int64_t k = low; k <= high; ++k)
    if (strata_meets(a, b, from + 1, apart - k * stride))
      return 1;
  return 0;
}

static int strata_dense(const StrataBox* box) {
  int64_t count = 1;
  for (unsigned d = 0; d < box->rank; ++d)
    count *= box->extents[d];
  return count == strata_span(box, 0);
}

/* Finds overlap of two arguments where one lies in memory without gaps, and where both have the same strides. Two
 * arrays with gaps and different pitches in one piece of memory are taken to be apart. */
static int strata_apart(const char* entry, const char* name, const int64_t* words, unsigned rank, int64_t bytes,
                        const char* other_name, const int64_t* other_words, unsigned other_rank, int64_t other_bytes) {
  const StrataBox a = strata_box(words, rank, bytes), b = strata_box(other_words, other_rank, other_bytes);
  if (a.empty || b.empty)
    return 1;
  int shares = 0, alike = a.rank == b.rank && a.bytes == b.bytes && (b.base - a.base) % a.bytes == 0;
  for (unsigned d = 0; alike && d < a.rank; ++d)
    alike = a.strides[d] == b.strides[d];
  if (alike)
    shares = strata_meets(&a, &b, 0, (b.base - a.base) / a.bytes);
  else if (strata_dense(&a))
    shares = strata_touches(&b, 0, b.base, a.base, a.base + strata_span(&a, 0) * a.bytes);
  else if (strata_dense(&b))
    shares = strata_touches(&a, 0, a.base, b.base, b.base + strata_span(&b, 0) * b.bytes);
  if (shares)
    return strata_reject("sequoia-overlap", "arguments '%s' and '%s' of %s share memory, and one of them is written",
                         name, other_name, entry);
  return 1;
}

/* ---- arrays whose last dimension is not the contiguous one ---- */

/* Compiled code takes arrays whose last dimension is contiguous; others are copied for the time of the call. */
typedef struct {
  const char* name;
  int64_t* words;
  unsigned rank;
  int64_t bytes;
  int written;
  void* memory;                     /* the copy; null: there is none */
  int64_t own[1 + 2 * SQ_MAX_DIMS]; /* the caller's words */
} StrataTurned;

static void strata_drop(StrataTurned* turned, int count) {
  for (int i = 0; i < count; ++i)
    free(turned[i].memory);
}

static int strata_turn(const char* entry, StrataTurned* turned, int count) {
  for (int i = 0; i < count; ++i) {
    StrataTurned* each = &turned[i];
    if (each->words[2 * each->rank] == 1)
      continue;
    memcpy(each->own, each->words, (1 + 2 * each->rank) * sizeof(int64_t));
    int64_t stride = 1;
    for (unsigned d = each->rank; d-- > 0;) {
      each->words[1 + each->rank + d] = stride;
      stride *= each->words[1 + d];
    }
    const size_t size = ((size_t)(stride * each->bytes) + 63) / 64 * 64;
    each->memory = aligned_alloc(64, size);
    if (!each->memory) {
      strata_drop(turned, i);
      return strata_reject("sequoia-out-of-memory",
                           "no memory for a copy of array '%s' of %s, which takes %lu bytes; it is made because the "
                           "last dimension is not "
                           "the contiguous one",
                           each->name, entry, (unsigned long)size);
    }
    each->words[0] = (int64_t)(uintptr_t)each->memory;
  }
  return 1;
}

static void strata_turn_in(const StrataTurned* turned, int count) {
  for (int i = 0; i < count; ++i) {
    const StrataTurned* each = &turned[i];
    if (each->memory)
      strata_move(each->memory, each->words + 1 + each->rank, (const void*)(uintptr_t)each->own[0],
                  each->own + 1 + each->rank, each->words + 1, (int32_t)each->rank, each->bytes);
  }
}

static void strata_turn_back(const StrataTurned* turned, int count) {
  for (int i = 0; i < count; ++i) {
    const StrataTurned* each = &turned[i];
    if (each->memory && each->written)
      strata_move((void*)(uintptr_t)each->own[0], each->own + 1 + each->rank, each->memory,
                  each->words + 1 + each->rank, each->words + 1, (int32_t)each->rank, each->bytes);
  }
}

/* ---- arrays on a disk ---- */

/* An array whose level is a disk: for the call it lies in a file, where the caller's own is moved from and to. */
typedef struct {
  const char* name;
  int64_t* words;
  unsigned rank; /* the words of an element count as a dimension */
  int64_t bytes; /* of one element */
  int read, written;
  void* file;
  int64_t own[1 + 2 * (SQ_MAX_DIMS + 1)]; /* the caller's words */
} StrataFiled;

static void strata_file_in(StrataFiled* filed, int count) {
  for (int i = 0; i < count; ++i) {
    StrataFiled* each = &filed[i];
    memcpy(each->own, each->words, (1 + 2 * each->rank) * sizeof(int64_t));
    int64_t stride = 1;
    for (unsigned d = each->rank; d-- > 0;) {
      each->words[1 + each->rank + d] = stride;
      stride *= each->words[1 + d];
    }
    each->file = strata_window_acquire_file(stride * each->bytes, each->name);
    each->words[0] = (int64_t)(uintptr_t)each->file;
    if (each->read)
      strata_window_move(each->file, each->words + 1 + each->rank, (const void*)(uintptr_t)each->own[0],
                         each->own + 1 + each->rank, each->words + 1, (int32_t)each->rank, each->bytes);
  }
}

static void strata_file_back(const StrataFiled* filed, int count) {
  for (int i = count; i-- > 0;) {
    const StrataFiled* each = &filed[i];
    if (each->written)
      strata_window_move((void*)(uintptr_t)each->own[0], each->own + 1 + each->rank, each->file,
                         each->words + 1 + each->rank, each->words + 1, (int32_t)each->rank, each->bytes);
    strata_window_release(each->file);
    memcpy(each->words, each->own, (1 + 2 * each->rank) * sizeof(int64_t));
  }
}
