/**
 * Contents of large attachments on their way into a request. They stay out of its JSON, where every step would have the same megabytes
 * escaped and measured again, and are put among its bytes.
 */
export interface Held {
  /** What stands for the content of a file until the request is written; a small one for itself. */
  hold(base64: string, file: object): string
  /** The request with what was held in its place. */
  fill(json: string): string | Uint8Array<ArrayBuffer>
}

const LARGE = 64 * 1024
/** Text that JSON shows as it is. */
const PLAIN = /^[A-Za-z0-9+/]*={0,2}$/

/** Files whose content was looked at; they are the same in each step. */
const looked = new WeakMap<object, boolean>()

function isPlain(base64: string, file: object): boolean {
  const known = looked.get(file) ?? PLAIN.test(base64)
  looked.set(file, known)
  return known
}

/** `mark` must be made anew for each request: nobody can have written it into a message before. */
export function createHeld(mark: string): Held {
  const contents: string[] = []
  return {
    hold(base64, file) {
      if (base64.length < LARGE || !isPlain(base64, file)) return base64
      return `${mark}_${contents.push(base64) - 1}_`
    },
    fill(json) {
      if (contents.length === 0) return json
      const pieces = json
        .split(new RegExp(`${mark}_(\\d+)_`))
        .map((piece, index) => (index % 2 === 0 ? { text: piece, encoding: 'utf8' as const } : contentAt(Number(piece))))
      const bytes = Buffer.allocUnsafeSlow(pieces.reduce((sum, { text, encoding }) => sum + Buffer.byteLength(text, encoding), 0))
      let at = 0
      for (const { text, encoding } of pieces) at += bytes.write(text, at, encoding)
      return bytes
    },
  }

  function contentAt(index: number) {
    return { text: contents[index] ?? '', encoding: 'latin1' as const }
  }
}
