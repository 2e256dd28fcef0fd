/** The command line of groups that list programs of a workspace, accept one and take that back, as data. Pure; throws a sentence when it cannot be understood. */
import { DIRECTORY, type Group, JSON_OUT, SERVER } from '../../line/page.js'
import { pageOf, readLine } from '../../line/read-line.js'
import type { PlaceOptions } from '../models/models-options.js'

export type ProgramOptions = PlaceOptions & ({ readonly action: 'list' } | { readonly action: 'accept' | 'revoke'; readonly id: string })

interface Said {
  readonly summary: string
  readonly example: readonly [line: string, meaning: string]
}

interface Programs<Name extends string> {
  readonly name: Name
  /** One of them, with its article. */
  readonly one: string
  readonly summary: string
  readonly list: Said
  readonly accept: Said
  readonly revoke: Said
}

const PLACE = {
  dir: { ...DIRECTORY, help: 'of this workspace' },
  server: { ...SERVER, otherwise: 'the local one, or one for the moment' },
  json: JSON_OUT,
} as const

export function programPages<const Name extends string>({ name, one, summary, list, accept, revoke }: Programs<Name>) {
  const words = [{ name: 'id', needs: `the id of ${one}` }] as const
  return {
    name,
    alias: name,
    summary,
    pages: [
      { name: `${name} list`, summary: list.summary, words: [], options: PLACE, examples: [list.example] },
      { name: `${name} accept`, summary: accept.summary, words, options: PLACE, examples: [accept.example] },
      { name: `${name} revoke`, summary: revoke.summary, words, options: PLACE, examples: [revoke.example] },
    ],
  } as const satisfies Group
}

/** `readUrl` checks the address of a server. */
export function readProgramArguments(
  group: ReturnType<typeof programPages>,
  [action, ...rest]: readonly string[],
  readUrl: (value: string) => string,
): ProgramOptions {
  const page = pageOf(group, action)
  const { values, first: id } = readLine(page, rest)
  const place = {
    directory: values.dir,
    server: values.server === undefined ? undefined : readUrl(values.server),
    json: values.json,
  }
  if (page === group.pages[0]) return { action: 'list', ...place }
  return { action: page === group.pages[1] ? 'accept' : 'revoke', id, ...place }
}
