/** The bundles of a file that `svc session export` wrote, one after the other, as their bytes: nothing of them is kept. */
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN = [0x7b, 0x5b]
const CLOSE = [0x7d, 0x5d]
/** Of a name in the file, as far as it matters. */
const NAME = 16

/**
 * Each bundle has to be read to its end before the next is asked for. A bundle that breaks off ends where the file does: whoever reads its
 * JSON sees that.
 */
export async function* bundlesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<AsyncGenerator<Uint8Array>> {
  const source = chunks[Symbol.asyncIterator]()
  const scan = createScan()
  let rest: Uint8Array | undefined = new Uint8Array()
  const more = async () => {
    const step = await source.next()
    rest = step.done === true ? undefined : step.value
  }
  async function* one(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('{')
    while (rest !== undefined) {
      const end = scan.untilEnd(rest)
      if (end !== undefined) {
        yield rest.subarray(0, end)
        rest = rest.subarray(end)
        return
      }
      yield rest
      await more()
    }
  }
  try {
    while (rest !== undefined) {
      const start = scan.untilBundle(rest)
      if (start === undefined) {
        await more()
        continue
      }
      rest = rest.subarray(start)
      yield one()
    }
  } finally {
    await source.return?.()
  }
}

/** Follows the brackets and texts of JSON; what is wrong besides is for whoever reads the bundle. */
function createScan() {
  let depth = 0
  let inText = false
  let escaped = false
  let name: number[] = []
  let inBundles = false

  /** Offset after the byte at which `stop` is met. */
  const run = (bytes: Uint8Array, stop: (byte: number) => boolean): number | undefined => {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      if (inText) {
        if (escaped) escaped = false
        else if (byte === BACKSLASH) escaped = true
        else if (byte === QUOTE) inText = false
        else if (depth === 1 && name.length < NAME) name.push(byte)
        continue
      }
      if (byte === QUOTE) {
        inText = true
        name = []
      } else if (OPEN.includes(byte)) {
        depth++
        if (depth === 2) inBundles = byte === 0x5b && Buffer.from(name).toString() === 'bundles'
      } else if (CLOSE.includes(byte)) depth--
      else continue
      if (stop(byte)) return at + 1
    }
    return undefined
  }
  return {
    /** Offset after the bracket that opens the next bundle. */
    untilBundle: (bytes: Uint8Array) => run(bytes, (byte) => depth === 3 && inBundles && byte === OPEN[0]),
    /** Offset after the bracket that closes it. */
    untilEnd: (bytes: Uint8Array) => run(bytes, () => depth === 2),
  }
}
