/** The files of the inspector, which the build put beside this program, and the page of one saved trace. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { SvcError } from '../protocol/errors.js'

export interface PageFiles {
  readonly html: string
  readonly script: string
  readonly style: string
}

/** This file is part of the entry or of a chunk one folder below it. */
const PLACES = ['./', '../'] as const

/** Reads the page; throws `resource.not_found` when the program was built without it. */
export async function readInspectorPage(): Promise<PageFiles> {
  const folder = PLACES.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(new URL('inspector.html', url)))
  if (folder === undefined) throw new SvcError('resource.not_found', 'This program was built without the inspector.')
  const read = (name: string) => readFile(fileURLToPath(new URL(name, folder)), 'utf8')
  const [html, script, style] = await Promise.all([read('inspector.html'), read('inspector.js'), read('inspector.css')])
  return { html, script, style }
}

/** One page with everything in it, trace included, that any browser opens from disk and that asks no host for anything. */
export function pageOfTrace({ html, script, style }: PageFiles, trace: string): string {
  const policy = `default-src 'none'; script-src '${hash(script)}'; style-src '${hash(style)}'; img-src data:; base-uri 'none'; form-action 'none'`
  // Replacements are functions: texts may contain `$&`.
  return html
    .replace('<meta charset="utf-8">', () => `<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">`)
    .replace('<link rel="stylesheet" href="inspector.css">', () => `<style>${style}</style>`)
    .replace('<script src="inspector.js" defer></script>', '')
    .replace(
      '</body>',
      () => `<script type="application/json" id="trace">${trace.replaceAll('<', '\\u003c')}</script>\n<script>${script}</script></body>`,
    )
}

function hash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
