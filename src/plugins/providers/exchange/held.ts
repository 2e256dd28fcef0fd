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
const END = /={1,2}$/

/** Files whose content was looked at; they are the same in each step. */
const looked = new WeakMap<object, boolean>()

function isPlain(base64: string, file: object): boolean {
  const known = looked.get(file) ?? isBase64(base64)
  looked.set(file, known)
  return known
}

/** Whether JSON shows it as it is. Decoding leaves out what is no base64, and takes a tenth of what a pattern does. */
function isBase64(text: string): boolean {
  const { length } = text.replace(END, '')
  return length % 4 !== 1 && Buffer.from(text, 'base64').length === Math.floor((length * 3) / 4)
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
