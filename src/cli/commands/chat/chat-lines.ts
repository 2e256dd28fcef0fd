/** What is typed in a chat, understood; and what the tab key offers. Pure but for looking at folders. */
import { readdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { meant } from '../../line/nearest.js'
import { SLASH } from './slash/slash-commands.js'

export type Typed =
  | { readonly type: 'prompt'; readonly text: string }
  | { readonly type: 'command'; readonly name: string; readonly rest: string }
  | { readonly type: 'unknown'; readonly hint: string }
  | { readonly type: 'nothing' }

/** `known`: commands of the configuration, which the server runs. */
export function understand(text: string, known: readonly string[]): Typed {
  const line = text.trim()
  if (line === '') return { type: 'nothing' }
  const [, name, rest = ''] = /^\/([\w:.-]+)(?:\s+([\s\S]*))?$/.exec(line) ?? []
  if (name === undefined || known.includes(name)) return { type: 'prompt', text: line }
  if (Object.hasOwn(SLASH, name)) return { type: 'command', name, rest }
  const near = meant(name, [...Object.keys(SLASH), ...known], (each) => `/${each}`)
  return { type: 'unknown', hint: `there is no command /${name}${near || '; /help lists them'}` }
}

/** `/` at the start of the line completes commands, `@` at the start of a word paths. */
export function offered(line: string, known: readonly string[], directory: string): readonly string[] {
  if (/^\/\S*$/.test(line)) return [...Object.keys(SLASH), ...known].map((name) => `/${name}`).filter((name) => name.startsWith(line))
  const [, path] = /(?:^|\s)@(\S*)$/.exec(line) ?? []
  return path === undefined ? [] : pathsFor(path, directory).map((each) => `@${each}`)
}

export function pathsFor(typed: string, directory: string): readonly string[] {
  const folder = typed.endsWith('/') ? typed : typed.includes('/') ? `${dirname(typed)}/` : ''
  try {
    return readdirSync(resolve(directory, folder), { withFileTypes: true })
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .filter(
        (path) => path.startsWith(typed) && (typed.slice(folder.length).startsWith('.') || !path.slice(folder.length).startsWith('.')),
      )
      .toSorted()
  } catch {
    return []
  }
}
