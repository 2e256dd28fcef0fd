/** Headers of the tar archives that svc writes: no owners, no times, a record of its own for a long name. Pure. */
export const TAR_BLOCK = 512
const LONGEST_NAME = 100
const LONGEST_PREFIX = 155
/** Digits of a size have room for less than 8 GiB; more is written as a number of base 256. */
const MOST_OCTAL = 8 ** 11

/** Bytes that a content takes: whole blocks. */
export function paddedTo(size: number): number {
  return Math.ceil(size / TAR_BLOCK) * TAR_BLOCK
}

/** One block; three where the name needs a record of its own. */
export function tarHeaders(path: string, mode: number, size: number): Uint8Array[] {
  const bytes = new TextEncoder().encode(path)
  const split = splitOf(bytes)
  if (split !== undefined) return [header(split, mode, size, '0')]
  const record = paxRecord('path', bytes)
  const short = { name: bytes.subarray(0, LONGEST_NAME), prefix: new Uint8Array() }
  const name = { name: new TextEncoder().encode('pax/long-name'), prefix: new Uint8Array() }
  return [header(name, 0o644, record.length, 'x'), filled(record), header(short, mode, size, '0')]
}

export interface TarHeader {
  readonly type: string
  readonly name: string
  readonly mode: number
  readonly size: number
}

/** Undefined for the empty block at the end. Throws a sentence for what is no header. */
export function readTarHeader(block: Uint8Array): TarHeader | undefined {
  if (block.every((byte) => byte === 0)) return undefined
  const sum = block.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 0x20 : byte), 0)
  if (sum !== digits(block, 148, 8)) throw new Error('it is no tar archive, or a damaged one')
  const prefix = textOf(block.subarray(345, 500))
  const name = textOf(block.subarray(0, 100))
  return {
    type: String.fromCharCode(block[156] ?? 0),
    name: prefix === '' ? name : `${prefix}/${name}`,
    mode: digits(block, 100, 8),
    size: (block[124] ?? 0) === 0x80 ? block.subarray(128, 136).reduce((total, byte) => total * 256 + byte, 0) : digits(block, 124, 12),
  }
}

/** The name in a record of the type `x`, as `tarHeaders` writes it. Throws a sentence for another one. */
export function readLongName(record: Uint8Array): string {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(record)
  const [, length, name] = /^(\d+) path=([^\n]+)\n$/.exec(text) ?? []
  if (name === undefined || Number(length) !== record.length) throw new Error('a name in it cannot be read')
  return name
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
  const block = new Uint8Array(TAR_BLOCK)
  const put = (at: number, text: string) => block.set(new TextEncoder().encode(text), at)
  block.set(name, 0)
  put(100, octal(mode, 7))
  put(108, octal(0, 7))
  put(116, octal(0, 7))
  if (size < MOST_OCTAL) put(124, octal(size, 11))
  else {
    block[124] = 0x80
    new DataView(block.buffer).setBigUint64(128, BigInt(size))
  }
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

function octal(value: number, length: number): string {
  return value.toString(8).padStart(length, '0')
}

function digits(block: Uint8Array, from: number, length: number): number {
  const text = textOf(block.subarray(from, from + length)).trim()
  if (!/^[0-7]{1,11}$/.test(text)) throw new Error('it is no tar archive, or a damaged one')
  return Number.parseInt(text, 8)
}

function textOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(0)
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end))
}

function filled(content: Uint8Array): Uint8Array {
  const block = new Uint8Array(paddedTo(content.length))
  block.set(content)
  return block
}
