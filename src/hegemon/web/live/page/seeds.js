// Seeds become streams as in NumPy: its SeedSequence, and its PCG64 for starts.
const WORD = 0xffffffffn;

function wordsOf(number) {
  const words = [];
  do { words.push(Number(number & WORD)); number >>= 32n; } while (number);
  return words;
}

// 32-bit words of the stream at `path` below a seed (a BigInt); with `count` words.
export function streamWords(seed, path, count) {
  const content = wordsOf(seed);
  while (content.length < 4) content.push(0);
  content.push(...path);
  let constant = 0x43b0d7e5;
  const scramble = (word) => {
    word ^= constant;
    constant = Math.imul(constant, 0x931e8875);
    word = Math.imul(word, constant);
    return word ^ (word >>> 16);
  };
  const mixed = (first, second) => {
    const word = (Math.imul(first, 0xca01f9dd) - Math.imul(second, 0x4973f715)) | 0;
    return word ^ (word >>> 16);
  };
  const pool = content.slice(0, 4).map(scramble);
  for (let source = 0; source < 4; source++) {
    for (let target = 0; target < 4; target++) if (source !== target) pool[target] = mixed(pool[target], scramble(pool[source]));
  }
  for (const word of content.slice(4)) for (let target = 0; target < 4; target++) pool[target] = mixed(pool[target], scramble(word));
  constant = 0x8b51f9dd;
  return Uint32Array.from({ length: count }, (_, k) => {
    let word = pool[k % 4] ^ constant;
    constant = Math.imul(constant, 0x58f38ded);
    word = Math.imul(word, constant);
    return word ^ (word >>> 16);
  });
}

// The ten numbers with which the kernel `draw_states` begins: state and increment of a PCG64, and no half left.
export function startGenerator(seed, path) {
  const words = streamWords(seed, path, 8);
  const half = (k) => (BigInt(words[2 * k + 1]) << 32n) | BigInt(words[2 * k]);
  const mask = (1n << 128n) - 1n;
  const multiplier = (2549297995355413924n << 64n) | 4865540595714422341n;
  const increment = ((((half(2) << 64n) | half(3)) << 1n) | 1n) & mask;
  const state = ((((half(0) << 64n) | half(1)) + increment) * multiplier + increment) & mask;
  const limbs = (number) => [0n, 32n, 64n, 96n].map((shift) => (number >> shift) & WORD);
  return BigUint64Array.from([...limbs(state), ...limbs(increment), 0n, 0n]);
}
