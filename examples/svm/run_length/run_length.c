/* Compresses bytes, piece by piece. A kernel codes the runs of a piece, a word each; when that is still long, a second
 * kernel packs the words into bits, in place: its output lies where its input lay, which it never overtakes. Control
 * code reads the lengths from the kernels' fields. */
#include "../example.h"

enum {
  PIECE = 2048,    /* bytes that are compressed at a time; as many runs at most */
  LONG = PIECE / 4 /* a result of more words than this is packed */
};

/* A run of up to 4095 like bytes becomes the word LENGTH * 256 + BYTE. */
typedef struct {
  Kernel kernel;
  IStream* in;
  OStream* out;
  int outputLength;
} RunLength;

static void runLengthWork(RunLength* coder) {
  boolean last;
  byte value;
  unsigned length = 1;
  last = streamPeekEOS(coder->in, 0);
  streamPop(coder->in, &value);
  while (!last) {
    byte next;
    last = streamPeekEOS(coder->in, 0);
    streamPop(coder->in, &next);
    if (next == value && length < 4095) {
      length++;
    } else {
      unsigned word = length * 256 + value;
      streamPush(coder->out, &word);
      coder->outputLength++;
      value = next;
      length = 1;
    }
  }
  unsigned word = length * 256 + value;
  streamPushWithEOS(coder->out, &word);
  coder->outputLength++;
}

static void runLengthInit(RunLength* coder, VM_NODE_PROC processor, Block* scratch, IStream* in, OStream* out) {
  kernelInit(&coder->kernel, processor, scratch, coder, sizeof(RunLength), (ExtKernelWork)&runLengthWork);
  coder->in = in;
  coder->out = out;
  coder->outputLength = 0;
}

/* Each word becomes Elias' gamma code of the length, 2 * floor(log2 LENGTH) + 1 bits, and the 8 bits of the byte: at
 * most 31 bits. They fill words from the lowest bit on. */
typedef struct {
  Kernel kernel;
  IStream* in;
  OStream* out;
  int outputLength;
} Pack;

static void packWork(Pack* pack) {
  unsigned long waiting = 0; /* bits that have not filled a word yet */
  int bits = 0;
  boolean last;
  do {
    unsigned word;
    last = streamPeekEOS(pack->in, 0);
    streamPop(pack->in, &word);
    const unsigned length = word >> 8;
    int zeros = 0;
    while (length >> (zeros + 1) != 0)
      zeros++;
    /* So many zeros, then the length, its highest bit first. */
    bits += zeros;
    for (int i = zeros; i >= 0; i--, bits++)
      waiting |= (unsigned long)((length >> i) & 1) << bits;
    waiting |= (unsigned long)(word & 255) << bits;
    bits += 8;
    if (bits >= 32 && !(last && bits == 32)) {
      unsigned full = (unsigned)(waiting & 0xffffffffu);
      streamPush(pack->out, &full);
      pack->outputLength++;
      waiting >>= 32;
      bits -= 32;
    }
  } while (!last);
  unsigned rest = (unsigned)waiting;
  streamPushWithEOS(pack->out, &rest);
  pack->outputLength++;
}

static void packInit(Pack* pack, VM_NODE_PROC processor, Block* scratch, IStream* in, OStream* out) {
  kernelInit(&pack->kernel, processor, scratch, pack, sizeof(Pack), (ExtKernelWork)&packWork);
  pack->in = in;
  pack->out = out;
  pack->outputLength = 0;
}

int main(int argc, char** argv) {
  static Stream source, input, coded, packed, result;
  static Block scratch;
  static Move feed, collect;
  static RunLength coder;
  static Pack pack;

  if (argc != 1 && argc != 3)
    fail("usage: %s [BYTES.npy WORDS.npy]", argv[0]);
  Array bytes;
  if (argc > 1) {
    bytes = readArray(argv[1], "|u1", 1, 1);
  } else {
    unsigned state = 1, length = 0, value = 0;
    bytes = newArray(1, 1, 20000, 1);
    for (long i = 0; i < bytes.count; i++, length--) {
      if (length == 0) {
        value = nextNumber(&state) % 7;
        length = 1 + nextNumber(&state) % (i < 10000 ? 3 : 50);
      }
      ((byte*)bytes.data)[i] = (byte)value;
    }
  }
  const long pieces = (bytes.count + PIECE - 1) / PIECE, space = roundedUp(bytes.count, 64);
  needBytes("the global memory", space + 4 * PIECE, GLOBALMEM_BYTES);
  memcpy(svmAddress(GLOBALMEM1, 0), bytes.data, (size_t)bytes.count);
  /* Of each piece a word that is twice the number of those that follow, and 1 more when these are packed. */
  Array words = newArray(4, 1, bytes.count + pieces, 1);
  long used = 0, packs = 0;

  for (long piece = 0; piece < pieces; piece++) {
    const int n = piece + 1 < pieces ? PIECE : (int)(bytes.count - piece * PIECE);
    streamInitWithDataRAM(&source, GLOBALMEM1, ADDRESS(GLOBALMEM, piece * PIECE), n, 1, n, TRUE, STREAM_NEVER_WRAPS);
    streamInitRAM(&input, LOCALMEM1, 0, 1024, 1, STREAM_UNALIASED_RAM);
    streamInitRAM(&coded, LOCALMEM1, ADDRESS(LOCALMEM, 1024), PIECE, 4, STREAM_NEVER_WRAPS);
    blockInit(&scratch, LOCALMEM1, ADDRESS(LOCALMEM, 1024 + 4 * PIECE), 64, 1);

    moveInit(&feed, DMA1, &source, &input, STREAM_LENGTH_ALL, TRUE);
    kernelRun(&feed.kernel);
    runLengthInit(&coder, PROC1, &scratch, &input, &coded);
    kernelRun(&coder.kernel);
    kernelWait(&coder.kernel);
    int length = coder.outputLength, isPacked = 0;

    if (length > LONG) {
      streamInitRAM(&packed, LOCALMEM1, ADDRESS(LOCALMEM, 1024), PIECE, 4, STREAM_NEVER_WRAPS);
      packInit(&pack, PROC1, &scratch, &coded, &packed);
      kernelRun(&pack.kernel);
      kernelWait(&pack.kernel);
      length = pack.outputLength;
      isPacked = 1;
      packs++;
      streamInitWithDataRAM(&coded, LOCALMEM1, ADDRESS(LOCALMEM, 1024), PIECE, 4, length, TRUE, STREAM_NEVER_WRAPS);
    }

    streamInitRAM(&result, GLOBALMEM1, ADDRESS(GLOBALMEM, space), PIECE, 4, STREAM_NEVER_WRAPS);
    moveInit(&collect, DMA1, &coded, &result, STREAM_LENGTH_ALL, TRUE);
    kernelRun(&collect.kernel);
    kernelWait(&collect.kernel);
    kernelWait(&feed.kernel);

    unsigned* to = (unsigned*)words.data + used;
    to[0] = 2 * (unsigned)length + (unsigned)isPacked;
    memcpy(to + 1, svmAddress(GLOBALMEM1, ADDRESS(GLOBALMEM, space)), 4 * (size_t)length);
    used += length + 1;
  }

  printf("%ld bytes in %ld pieces, %ld of them packed: %ld bytes\n", bytes.count, pieces, packs, 4 * used);
  words.shape[0] = words.count = used;
  if (argc > 1)
    writeArray(argv[2], "<u4", 4, words);
  free(words.data);
  free(bytes.data);
  return 0;
}
