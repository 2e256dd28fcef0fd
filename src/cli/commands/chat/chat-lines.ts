/** What is typed in a chat, understood; and what the tab key offers. Pure but for looking at folders. */
import { readdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { printable } from '../../../protocol/text/visible-text.js'
import type { Line } from '../../terminal/span.js'
import { meant } from '../../line/nearest.js'

/** The commands of the chat itself, and what they do. */
const COMMANDS: Readonly<Record<string, string>> = {
  help: 'this list',
  queue: '<prompt>  has its turn after the run that is under way',
  undo: 'takes back the last turn with what it changed on disk',
  redo: 'brings it back',
  new: 'a new session',
  model: '<id>  another model from now on; alone, those there are',
  agent: '<name>  another agent from now on',
  thinking: 'shows what the model thinks, or no longer',
  exit: 'leaves',
}

/** The list of `/help`: the commands of the chat, then those of the configuration, which the server runs. */
export function helpLines(configured: readonly { readonly name: string; readonly description?: string | undefined }[]): readonly Line[] {
  const own = Object.entries(COMMANDS)
  const others = configured.filter(({ name }) => !Object.hasOwn(COMMANDS, name)).map(({ name, description = '' }) => [name, description])
  return [...own, ...others].map(([name = '', does = '']) => [
    { text: `/${printable(name)} `.padEnd(12) },
    { text: printable(does.split('\n', 1)[0] ?? ''), styles: ['dim'] },
  ])
}

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
  if (Object.hasOwn(COMMANDS, name)) return { type: 'command', name, rest }
  const near = meant(name, [...Object.keys(COMMANDS), ...known], (each) => `/${each}`)
  return { type: 'unknown', hint: `there is no command /${name}${near || '; /help lists them'}` }
}

/** `/` at the start of the line completes commands, `@` at the start of a word paths. */
export function offered(line: string, known: readonly string[], directory: string): readonly string[] {
  if (/^\/\S*$/.test(line)) return [...Object.keys(COMMANDS), ...known].map((name) => `/${name}`).filter((name) => name.startsWith(line))
  const [, path] = /(?:^|\s)@(\S*)$/.exec(line) ?? []
  return path === undefined ? [] : pathsFor(path, directory).map((each) => `@${each}`)
}

function pathsFor(typed: string, directory: string): readonly string[] {
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
