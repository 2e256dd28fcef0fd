/** Files that go with a prompt: `--file`, `--image` and `@path` in its text. */
import { type Stats, readFileSync, statSync } from 'node:fs'
import { basename, extname, resolve } from 'node:path'
import { LIMITS } from '../../../protocol/limits.js'
import type { PromptPart } from '../../../protocol/message/message.js'
import { wrongUse } from '../../line/wrong-use.js'

type FilePrompt = Extract<PromptPart, { type: 'file' }>

const IMAGES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.bmp': 'image/bmp',
  '.svg': 'image/svg+xml',
}

/** As base64 in a JSON body, beside the text. */
const MOST = Math.floor(LIMITS.http.promptBody * 0.7)

export interface Named {
  readonly files: readonly string[]
  readonly images: readonly string[]
}

/**
 * Parts for what is named and what the text mentions, each file once. Throws where a named file cannot be read, is no image, or they are too
 * large together; an `@` that leads to no file is text.
 */
export function attachmentsOf({ files, images }: Named, text: string, directory: string): readonly FilePrompt[] {
  const paths = new Map<string, string>()
  for (const file of files) paths.set(readable(file), mimeOf(file))
  for (const file of images) paths.set(readable(file), imageOf(file))
  for (const file of mentionsOf(text)) {
    const path = resolve(directory, file)
    if (kindOf(path)?.isFile() === true && !paths.has(path)) paths.set(path, mimeOf(path))
  }
  let size = 0
  return [...paths].map(([path, mime]) => {
    size += kindOf(path)?.size ?? 0
    if (size > MOST) throw wrongUse(`the files of a prompt have at most ${Math.floor(MOST / 1024)} KiB together; ${path} is too much`)
    const content = readFileSync(path)
    const type = mime === '' ? (isText(content) ? 'text/plain' : 'application/octet-stream') : mime
    return { type: 'file', filename: basename(path), mime: type, url: `data:${type};base64,${content.toString('base64')}` }
  })
}

/** Mentions that look like the path of a file, and lead to none. */
export function missingFiles(text: string, directory: string): readonly string[] {
  return mentionsOf(text).filter((path) => /^[\w~][\w./~-]*[./][\w-]+$/.test(path) && kindOf(resolve(directory, path)) === undefined)
}

/** `@src/a.ts` at the start of a word; a full stop or comma after it is not part of it. */
export function mentionsOf(text: string): readonly string[] {
  return [...text.matchAll(/(?<=^|[\s("'`])@([^\s"'`()]+)/g)]
    .map(([, path = '']) => path.replace(/[.,;:!?]+$/, ''))
    .filter((path) => path !== '')
}

function readable(file: string): string {
  const path = resolve(file)
  const kind = kindOf(path)
  if (kind === undefined) throw wrongUse(`${file} does not exist, or cannot be read`)
  if (!kind.isFile()) throw wrongUse(`${file} is not a file`)
  return path
}

function kindOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

function imageOf(file: string): string {
  const mime = IMAGES[extname(file).toLowerCase()]
  if (mime === undefined) throw wrongUse(`${file} is not an image svc knows: ${Object.keys(IMAGES).join(', ')}`)
  return mime
}

/** Empty for what only its content can tell. */
function mimeOf(file: string): string {
  const extension = extname(file).toLowerCase()
  return IMAGES[extension] ?? (extension === '.pdf' ? 'application/pdf' : '')
}

function isText(content: Uint8Array): boolean {
  return !content.subarray(0, 8192).includes(0)
}
