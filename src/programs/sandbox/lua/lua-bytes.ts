/**
 * The `Uint8Array` of the Lua VM: the build gives it to the VM's sources in place of the real one, because every string
 * of a script is one, and their memory is not counted by the engine's heap limits (threat-model L3).
 *
 * Owns the one meter of its thread; there is one VM in a thread.
 */
type Charge = (bytes: number) => void

let charge: Charge = () => {}

/** From now on `meter` hears of every buffer before it is made; it refuses by throwing. */
export function chargeBytesTo(meter: Charge): void {
  charge = meter
}

/** Called with `new`; what it makes are real typed arrays, and these are also its instances. */
export function LuaBytes(source: number | ArrayLike<number> | ArrayBuffer = 0, offset?: number, length?: number): Uint8Array {
  if (source instanceof ArrayBuffer) return new Uint8Array(source, offset, length)
  if (typeof source === 'number') {
    charge(source)
    return new Uint8Array(source)
  }
  return copyOf(source)
}
LuaBytes.prototype = Uint8Array.prototype
LuaBytes.from = copyOf
LuaBytes.of = (...bytes: number[]): Uint8Array => copyOf(bytes)

function copyOf(source: ArrayLike<number>): Uint8Array {
  charge(source.length)
  return source instanceof Uint8Array ? source.slice() : new Uint8Array(source)
}

/** Key of a string in the VM's tables: one character a byte, so that no two strings share one. */
export function hashOfBytes(bytes: Uint8Array): string {
  if (bytes.length > SHORT) return `|${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')}`
  let text = '|'
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}

const SHORT = 24
