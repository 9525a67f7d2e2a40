/* What the C functions of entry points share: part of the text of every built program, after strata_abi.h and the
 * header that declares STRATA_RAISE. Codes of errors in arguments begin with STRATA_CODES. Functions that check return
 * 1 when all is well; else the error has been raised, and whoever handles it may jump out of the call, so nothing is
 * held then. An array is known by its words: a pointer, the extents, the strides in elements. */

#define STRATA_MOST_RANK 9 /* of arrays that C passes */

static int strata_reject(const char* code, const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  STRATA_RAISE(code, text);
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

/* ---- plain pointers and sizes ---- */

#define STRATA_MOST_ELEMENTS ((int64_t)1 << 47)

static int strata_size(const char* entry, const char* name, int64_t size) {
  if (size < 0)
    return strata_reject(STRATA_CODES "negative-size", "%s of %s is %lld", name, entry, (long long)size);
  if (size > STRATA_MOST_ELEMENTS)
    return strata_reject(STRATA_CODES "size-too-large", "%s of %s is %lld, more than can be addressed", name, entry,
                         (long long)size);
  return 1;
}

/* Fills in the pointer and the strides of an array in C's order; the extents are there. */
static int strata_elements(const char* entry, const char* name, const void* pointer, unsigned rank, uint64_t bytes,
                           uint64_t alignment, int64_t* words) {
  int64_t stride = 1, size = 0;
  int empty = 0, wraps = 0;
  for (unsigned d = rank; d-- > 0;) {
    const int64_t extent = words[1 + d];
    if (extent < 0)
      return strata_reject(STRATA_CODES "negative-size", "dimension %u of array '%s' of %s would have %lld elements", d,
                           name, entry, (long long)extent);
    words[1 + rank + d] = stride;
    empty |= extent == 0;
    wraps |= __builtin_mul_overflow(stride, extent, &stride);
  }
  wraps |= __builtin_mul_overflow(stride, (int64_t)bytes, &size) || size > STRATA_MOST_ELEMENTS;
  if (wraps && !empty)
    return strata_reject(STRATA_CODES "size-too-large", "array '%s' of %s is larger than what can be addressed", name,
                         entry);
  for (unsigned d = 0; empty && d < rank; ++d)
    words[1 + rank + d] = 1;
  if (!pointer && !empty)
    return strata_reject(STRATA_CODES "null-argument", "array '%s' of %s is a null pointer", name, entry);
  if ((uintptr_t)pointer % alignment)
    return strata_reject(STRATA_CODES "misaligned",
                         "the elements of array '%s' of %s begin at no multiple of %lu bytes", name, entry,
                         (unsigned long)alignment);
  words[0] = (int64_t)(uintptr_t)pointer;
  return 1;
}

/* ---- arguments in either way ---- */

static int strata_pointer(const char* entry, const char* name, const void* pointer, uint64_t alignment) {
  if (!pointer)
    return strata_reject(STRATA_CODES "null-argument", "argument '%s' of %s is a null pointer", name, entry);
  if ((uintptr_t)pointer % alignment)
    return strata_reject(STRATA_CODES "misaligned", "argument '%s' of %s lies at no multiple of %lu bytes", name, entry,
                         (unsigned long)alignment);
  return 1;
}

static int strata_extent(const char* entry, const char* name, unsigned dimension, int64_t extent, int64_t stated,
                         const char* text) {
  if (extent == stated)
    return 1;
  return strata_reject(STRATA_CODES "size-mismatch",
                       "dimension %u of array '%s' of %s has %ld elements; it is to have %s = %ld", dimension, name,
                       entry, (long)extent, text, (long)stated);
}

/* ---- overlap ---- */

/* A box of elements, its dimensions by falling stride. Within a stride lies all that the later dimensions span: that is
 * how arrays within arrays are, and what keeps the searches below short. */
typedef struct {
  int64_t base, bytes; /* address of the first element; of one element */
  int64_t extents[STRATA_MOST_RANK + 1], strides[STRATA_MOST_RANK + 1]; /* the words of an element may be a dimension */
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
 * arrays with gaps and different pitches in one piece of memory are taken to be disjoint. */
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
    return strata_reject(STRATA_CODES "overlap",
                         "arguments '%s' and '%s' of %s share memory, and one of them is written", name, other_name,
                         entry);
  return 1;
}

/* Keeps an array's words in `own`, and makes the strides those of an array in C's order; how many elements it has. */
static int64_t strata_make_dense(int64_t* words, unsigned rank, int64_t* own) {
  memcpy(own, words, (1 + 2 * rank) * sizeof(int64_t));
  int64_t stride = 1;
  for (unsigned d = rank; d-- > 0;) {
    words[1 + rank + d] = stride;
    stride *= words[1 + d];
  }
  return stride;
}

/* ---- arrays whose last dimension is not the contiguous one ---- */

/* Compiled code takes arrays whose last dimension is contiguous; others are copied for the time of the call. */
typedef struct {
  const char* name;
  int64_t* words;
  unsigned rank;
  int64_t bytes;
  int written;
  void* memory;                          /* the copy; null: there is none */
  int64_t own[1 + 2 * STRATA_MOST_RANK]; /* the caller's words */
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
    const int64_t elements = strata_make_dense(each->words, each->rank, each->own);
    const size_t size = ((size_t)(elements * each->bytes) + 63) / 64 * 64;
    each->memory = aligned_alloc(64, size);
    if (!each->memory) {
      strata_drop(turned, i);
      return strata_reject(STRATA_CODES "out-of-memory",
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

/* ---- arrays in several processes ---- */

/* A block of the caller's: for the call it lies where the other processes reach it, if there are any. */
typedef struct {
  const char* name;
  int64_t* words;
  unsigned rank; /* the words of an element count as a dimension */
  int64_t bytes; /* of one element */
  int written;
  void* memory;                                /* null: it stays where it is */
  int64_t own[1 + 2 * (STRATA_MOST_RANK + 1)]; /* the caller's words */
} StrataShared;

static int64_t strata_shared_bytes(const StrataShared* shared) {
  int64_t bytes = shared->bytes;
  for (unsigned d = 0; d < shared->rank; ++d)
    bytes *= shared->words[1 + d];
  return bytes;
}

static void strata_share_in(StrataShared* shared, int count) {
  for (int i = 0; i < count; ++i) {
    StrataShared* each = &shared[i];
    each->memory = strata_nodes_acquire(strata_shared_bytes(each), each->name);
    if (!each->memory)
      continue;
    strata_make_dense(each->words, each->rank, each->own);
    each->words[0] = (int64_t)(uintptr_t)each->memory;
    strata_move(each->memory, each->words + 1 + each->rank, (const void*)(uintptr_t)each->own[0],
                each->own + 1 + each->rank, each->words + 1, (int32_t)each->rank, each->bytes);
  }
}

static void strata_share_back(const StrataShared* shared, int count) {
  for (int i = count; i-- > 0;) {
    const StrataShared* each = &shared[i];
    if (!each->memory)
      continue;
    if (each->written)
      strata_move((void*)(uintptr_t)each->own[0], each->own + 1 + each->rank, each->memory,
                  each->words + 1 + each->rank, each->words + 1, (int32_t)each->rank, each->bytes);
    strata_nodes_release(each->memory, strata_shared_bytes(each));
    memcpy(each->words, each->own, (1 + 2 * each->rank) * sizeof(int64_t));
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
  int64_t own[1 + 2 * (STRATA_MOST_RANK + 1)]; /* the caller's words */
} StrataFiled;

static void strata_file_in(StrataFiled* filed, int count) {
  for (int i = 0; i < count; ++i) {
    StrataFiled* each = &filed[i];
    const int64_t elements = strata_make_dense(each->words, each->rank, each->own);
    each->file = strata_window_acquire_file(elements * each->bytes, each->name);
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
