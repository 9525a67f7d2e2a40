/* Encrypts bytes with XTEA (Needham and Wheeler, 1997) in counter mode. The 32 cycles of the cipher are a pipeline of
 * four processors; another counts, and a last one adds what comes out to the text. The published vectors go through the
 * same pipeline first. */
#include "../example.h"

typedef struct {
  unsigned left, right;
} Pair;

/* Pushes nonce, nonce + 1, … as pairs, the high half left. */
typedef struct {
  Kernel kernel;
  OStream* out;
  unsigned long nonce;
  int length;
} Count;

static void countWork(Count* count) {
  for (int i = 0; i < count->length; i++) {
    const unsigned long number = count->nonce + (unsigned long)i;
    Pair pair;
    pair.left = (unsigned)(number >> 32);
    pair.right = (unsigned)(number & 0xffffffffu);
    streamPush(count->out, &pair);
  }
}

static void countInit(Count* count, VM_NODE_PROC processor, Block* scratch, OStream* out, unsigned long nonce,
                      int length) {
  kernelInit(&count->kernel, processor, scratch, count, sizeof(Count), (ExtKernelWork)&countWork);
  count->out = out;
  count->nonce = nonce;
  count->length = length;
}

/* Eight cycles. */
typedef struct {
  Kernel kernel;
  IStream* in;
  OStream* out;
  unsigned key[4];
  int firstCycle;
  int length;
} Cycles;

static void cyclesWork(Cycles* cycles) {
  const unsigned delta = 0x9e3779b9u;
  for (int i = 0; i < cycles->length; i++) {
    Pair pair;
    streamPop(cycles->in, &pair);
    unsigned sum = (unsigned)cycles->firstCycle * delta;
    for (int cycle = 0; cycle < 8; cycle++) {
      pair.left += (((pair.right << 4) ^ (pair.right >> 5)) + pair.right) ^ (sum + cycles->key[sum & 3]);
      sum += delta;
      pair.right += (((pair.left << 4) ^ (pair.left >> 5)) + pair.left) ^ (sum + cycles->key[(sum >> 11) & 3]);
    }
    streamPush(cycles->out, &pair);
  }
}

static void cyclesInit(Cycles* cycles, VM_NODE_PROC processor, Block* scratch, IStream* in, OStream* out,
                       const unsigned* key, int firstCycle, int length) {
  kernelInit(&cycles->kernel, processor, scratch, cycles, sizeof(Cycles), (ExtKernelWork)&cyclesWork);
  cycles->in = in;
  cycles->out = out;
  memcpy(cycles->key, key, sizeof cycles->key);
  cycles->firstCycle = firstCycle;
  cycles->length = length;
}

typedef struct {
  Kernel kernel;
  IStream* text;
  IStream* pad;
  OStream* out;
  int length;
} Add;

static void addWork(Add* add) {
  for (int i = 0; i < add->length; i++) {
    Pair text, pad;
    streamPop(add->text, &text);
    streamPop(add->pad, &pad);
    text.left ^= pad.left;
    text.right ^= pad.right;
    streamPush(add->out, &text);
  }
}

static void addInit(Add* add, VM_NODE_PROC processor, Block* scratch, IStream* text, IStream* pad, OStream* out,
                    int length) {
  kernelInit(&add->kernel, processor, scratch, add, sizeof(Add), (ExtKernelWork)&addWork);
  add->text = text;
  add->pad = pad;
  add->out = out;
  add->length = length;
}

static Stream plain, first, second, third, cipher;
static Cycles cycles1, cycles2, cycles3, cycles4;

/* Lets the four processors encrypt what comes through `plain`, into `cipher`. */
static void startCipher(const unsigned* key, int length) {
  streamInitRAM(&plain, LOCALMEM2, 0, 64, 8, 0);
  streamInitFIFO(&first, FIFO1, 8, 0);
  streamInitFIFO(&second, FIFO2, 8, 0);
  streamInitFIFO(&third, FIFO3, 8, 0);
  streamInitRAM(&cipher, LOCALMEM6, 0, 64, 8, 0);
  cyclesInit(&cycles1, PROC2, NULL, &plain, &first, key, 0, length);
  cyclesInit(&cycles2, PROC3, NULL, &first, &second, key, 8, length);
  cyclesInit(&cycles3, PROC4, NULL, &second, &third, key, 16, length);
  cyclesInit(&cycles4, PROC5, NULL, &third, &cipher, key, 24, length);
  kernelRun(&cycles1.kernel);
  kernelRun(&cycles2.kernel);
  kernelRun(&cycles3.kernel);
  kernelRun(&cycles4.kernel);
}

/* Encrypts pairs that lie in the global memory at `at`, and leaves them there. */
static void encryptPairs(const unsigned* key, long at, int length) {
  static Stream source, result;
  static Move feed, collect;
  streamInitWithDataRAM(&source, GLOBALMEM1, ADDRESS(GLOBALMEM, at), length, 8, length, FALSE, STREAM_NEVER_WRAPS);
  streamInitRAM(&result, GLOBALMEM1, ADDRESS(GLOBALMEM, at), length, 8, STREAM_NEVER_WRAPS);
  startCipher(key, length);
  moveInit(&feed, DMA1, &source, &plain, length, FALSE);
  moveInit(&collect, DMA1, &cipher, &result, length, FALSE);
  kernelRun(&feed.kernel);
  kernelRun(&collect.kernel);
  kernelWait(&collect.kernel);
  kernelWaitMultiple(&feed.kernel, &cycles1.kernel, &cycles2.kernel, &cycles3.kernel, &cycles4.kernel);
}

/* Encrypts the text that lies in the global memory at `at`, as pairs, and leaves it there. */
static void encryptText(const unsigned* key, unsigned long nonce, long at, int length) {
  static Stream source, text, padded, result;
  static Count count;
  static Add add;
  static Move feed, collect;
  streamInitWithDataRAM(&source, GLOBALMEM1, ADDRESS(GLOBALMEM, at), length, 8, length, FALSE, STREAM_NEVER_WRAPS);
  streamInitRAM(&result, GLOBALMEM1, ADDRESS(GLOBALMEM, at), length, 8, STREAM_NEVER_WRAPS);
  streamInitRAM(&text, LOCALMEM6, ADDRESS(LOCALMEM, 512), 64, 8, STREAM_UNALIASED_RAM);
  streamInitRAM(&padded, LOCALMEM6, ADDRESS(LOCALMEM, 1024), 64, 8, STREAM_UNALIASED_RAM);
  startCipher(key, length);
  countInit(&count, PROC1, NULL, &plain, nonce, length);
  addInit(&add, PROC6, NULL, &text, &cipher, &padded, length);
  moveInit(&feed, DMA1, &source, &text, length, FALSE);
  moveInit(&collect, DMA1, &padded, &result, length, FALSE);
  kernelRun(&count.kernel);
  kernelRun(&add.kernel);
  kernelRun(&feed.kernel);
  kernelRun(&collect.kernel);
  kernelWait(&collect.kernel);
}

/* Three pairs for each of two keys, and what they become, from the cipher's usual test vectors. */
static void tryVectors(void) {
  static const unsigned keys[2][4] = {{0x00010203, 0x04050607, 0x08090a0b, 0x0c0d0e0f}, {0, 0, 0, 0}};
  static const Pair plains[2][3] = {{{0x41424344, 0x45464748}, {0x41414141, 0x41414141}, {0x5a5b6e27, 0x8948d77f}},
                                    {{0x41424344, 0x45464748}, {0x41414141, 0x41414141}, {0x70e1225d, 0x6e4e7655}}};
  static const Pair ciphers[2][3] = {{{0x497df3d0, 0x72612cb5}, {0xe78f2d13, 0x744341d8}, {0x41414141, 0x41414141}},
                                     {{0xa0390589, 0xf8b8efa5}, {0xed23375a, 0x821a8c2d}, {0x41414141, 0x41414141}}};
  for (int i = 0; i < 2; i++) {
    memcpy(svmAddress(GLOBALMEM1, 0), plains[i], sizeof plains[i]);
    encryptPairs(keys[i], 0, 3);
    if (memcmp(svmAddress(GLOBALMEM1, 0), ciphers[i], sizeof ciphers[i]) != 0)
      fail("the cipher does not agree with its test vectors");
  }
}

static unsigned long hexadecimal(const char* digits, int length) {
  char part[17] = "";
  for (int i = 0; i < length; i++) {
    if (!strchr("0123456789abcdefABCDEF", digits[i]) || !digits[i])
      fail("a key is 32 hexadecimal digits, a nonce is 16");
    part[i] = digits[i];
  }
  return strtoul(part, NULL, 16);
}

int main(int argc, char** argv) {
  unsigned key[4] = {0x2b7e1516, 0x28aed2a6, 0xabf71588, 0x09cf4f3c};
  unsigned long nonce = 0;

  if (argc == 2 || argc > 5)
    fail("usage: %s [TEXT.npy CIPHER.npy [KEY [NONCE]]]", argv[0]);
  if (argc > 3) {
    for (int i = 0; i < 4; i++) {
      if (strlen(argv[3]) != 32)
        fail("a key is 32 hexadecimal digits");
      key[i] = (unsigned)hexadecimal(argv[3] + 8 * i, 8);
    }
  }
  if (argc > 4) {
    if (strlen(argv[4]) != 16)
      fail("a nonce is 16 hexadecimal digits");
    nonce = hexadecimal(argv[4], 16);
  }
  Array text;
  if (argc > 1) {
    text = readArray(argv[1], "|u1", 1, 1);
  } else {
    text = newArray(1, 1, 30000, 1);
    for (long i = 0; i < text.count; i++)
      ((byte*)text.data)[i] = (byte)("streams of kernels "[i % 19]);
  }
  tryVectors();

  const long length = (text.count + 7) / 8;
  needBytes("the global memory", 8 * length, GLOBALMEM_BYTES);
  /* Bytes become halves with their first byte highest; the last pair is filled up with zeros. */
  unsigned* halves = (unsigned*)svmAddress(GLOBALMEM1, 0);
  memset(halves, 0, 8 * (size_t)length);
  for (long i = 0; i < text.count; i++)
    halves[i / 4] |= (unsigned)((byte*)text.data)[i] << (24 - i % 4 * 8);
  encryptText(key, nonce, 0, (int)length);
  unsigned check = 0;
  for (long i = 0; i < text.count; i++) {
    ((byte*)text.data)[i] = (byte)(halves[i / 4] >> (24 - i % 4 * 8));
    check = check * 31 + ((byte*)text.data)[i];
  }
  printf("the test vectors agree; %ld bytes encrypted, with checksum %08x\n", text.count, check);
  if (argc > 1)
    writeArray(argv[2], "|u1", 1, text);
  free(text.data);
  return 0;
}
