/** A tar archive that is the same bytes wherever it is made: no times, no owners, two modes, files in the order they are given. Pure. */
import type { ArchivedFile } from './tar-read.js'

const BLOCK = 512
/** Archives end with two empty blocks, and are filled up to a record of twenty. */
const RECORD = 20 * BLOCK
const LONGEST_NAME = 100
const LONGEST_PREFIX = 155

export function writeTar(files: readonly ArchivedFile[]): Uint8Array {
  const blocks = files.flatMap(({ path, executable, content }) => [
    ...headersOf(path, executable ? 0o755 : 0o644, content.length),
    padded(content),
  ])
  const length = blocks.reduce((sum, block) => sum + block.length, 0)
  const archive = new Uint8Array(Math.ceil((length + 2 * BLOCK) / RECORD) * RECORD)
  let at = 0
  for (const block of blocks) {
    archive.set(block, at)
    at += block.length
  }
  return archive
}

/** One block; three where the name needs a record of its own. */
function headersOf(path: string, mode: number, size: number): Uint8Array[] {
  const bytes = new TextEncoder().encode(path)
  const split = splitOf(bytes)
  if (split !== undefined) return [header(split, mode, size, '0')]
  const record = paxRecord('path', bytes)
  const short = { name: bytes.subarray(0, LONGEST_NAME), prefix: new Uint8Array() }
  const name = { name: new TextEncoder().encode('pax/long-name'), prefix: new Uint8Array() }
  return [header(name, 0o644, record.length, 'x'), padded(record), header(short, mode, size, '0')]
}

interface Name {
  readonly name: Uint8Array
  readonly prefix: Uint8Array
}

/** Name and prefix of a header, parted at a slash; undefined when they have no room for it. */
function splitOf(path: Uint8Array): Name | undefined {
  if (path.length <= LONGEST_NAME) return { name: path, prefix: new Uint8Array() }
  const slash = path.indexOf(0x2f, Math.max(0, path.length - LONGEST_NAME - 1))
  const fits = slash > 0 && slash <= LONGEST_PREFIX && slash < path.length - 1
  return fits ? { prefix: path.subarray(0, slash), name: path.subarray(slash + 1) } : undefined
}

/** `length key=value\n`, where the length counts itself. */
function paxRecord(key: string, value: Uint8Array): Uint8Array {
  const rest = key.length + value.length + 3
  let length = rest + 1
  while (String(length).length + rest !== length) length = String(length).length + rest
  const [before, after] = [new TextEncoder().encode(`${length} ${key}=`), new TextEncoder().encode('\n')]
  return Uint8Array.from([...before, ...value, ...after])
}

function header({ name, prefix }: Name, mode: number, size: number, type: string): Uint8Array {
  const block = new Uint8Array(BLOCK)
  const put = (at: number, text: string) => block.set(new TextEncoder().encode(text), at)
  block.set(name, 0)
  put(100, octal(mode, 7))
  put(108, octal(0, 7))
  put(116, octal(0, 7))
  put(124, octal(size, 11))
  put(136, octal(0, 11))
  put(148, '        ')
  put(156, type)
  put(257, 'ustar\0')
  put(263, '00')
  block.set(prefix, 345)
  put(
    148,
    `${octal(
      block.reduce((sum, byte) => sum + byte, 0),
      6,
    )}\0 `,
  )
  return block
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0')
}

function padded(content: Uint8Array): Uint8Array {
  const block = new Uint8Array(Math.ceil(content.length / BLOCK) * BLOCK)
  block.set(content)
  return block
}
