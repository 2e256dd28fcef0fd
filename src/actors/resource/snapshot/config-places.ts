/** Where what a diagnostic is about stands: file, line and column, found anew in the files when somebody asks (choice 23). */
import { basename } from 'node:path'
import type { ConfigDiagnostic } from '../../../protocol/resource/config.js'
import { LIMITS } from '../../../protocol/limits.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { SLICE } from '../../../kernel/work.js'
import { keyLocator, type Position } from '../config/config-parse.js'
import type { FileProbe } from '../../../ports/watched.js'
import type { ConfigSnapshot } from './snapshot.js'

type Keys = readonly (string | number)[]
type Locate = ReturnType<typeof keyLocator>

/** Diagnostics whose place is looked for; each is looked for in whole texts. */
const PLACED = 64

/** Names that diagnostics have for several keys at once. */
const MEANT: Readonly<Record<string, string>> = { providers: 'enabledProviders' }

/** The same diagnostics, each with its place where it has one. `given` is the text of `SVC_AGENT_CONFIG_CONTENT`. */
export async function withPlaces(
  diagnostics: readonly ConfigDiagnostic[],
  snapshot: Pick<ConfigSnapshot, 'layers' | 'definedIn'>,
  probe: Pick<FileProbe, 'readText' | 'work'>,
  given: string,
): Promise<ConfigDiagnostic[]> {
  const texts = new Map<string, string>([['SVC_AGENT_CONFIG_CONTENT', given]])
  const textOf = async (file: string): Promise<string> => {
    const known = texts.get(file)
    if (known !== undefined) return known
    const read = await probe.readText(file, { maxBytes: LIMITS.config.fileBytes, within: undefined }).catch(() => undefined)
    const text = read?.type === 'text' ? read.text : ''
    texts.set(file, text)
    return text
  }
  const locators = new Map<string, Locate>()
  const locatorOf = async (file: string): Promise<Locate> => {
    const locate = locators.get(file) ?? keyLocator(await textOf(file))
    locators.set(file, locate)
    return locate
  }
  const placed: ConfigDiagnostic[] = []
  for (const diagnostic of diagnostics.slice(0, PLACED)) {
    await probe.work.pay(SLICE)
    placed.push(await placeOf(diagnostic, snapshot, { textOf, locatorOf }))
  }
  return [...placed, ...diagnostics.slice(PLACED)]
}

/** What is looked up for all diagnostics: each file is read once. */
interface Sought {
  textOf(file: string): Promise<string>
  locatorOf(file: string): Promise<Locate>
}

async function placeOf(
  diagnostic: ConfigDiagnostic,
  { layers, definedIn }: Pick<ConfigSnapshot, 'layers' | 'definedIn'>,
  { textOf, locatorOf }: Sought,
): Promise<ConfigDiagnostic> {
  if (diagnostic.line !== undefined) return diagnostic
  const path = MEANT[diagnostic.path] ?? diagnostic.path
  const markdown = diagnostic.file?.endsWith('.md') === true ? diagnostic.file : definitionFile(path, definedIn)
  if (markdown !== undefined) return { ...diagnostic, file: markdown, ...lineOf(await textOf(markdown), path) }
  const among = diagnostic.file === undefined ? [...layers].toReversed() : [...layers].filter(([file]) => file === diagnostic.file)
  const found = among
    .map(([file, document]) => ({ file, keys: keysOf(document, path) }))
    .reduce<{ file: string; keys: Keys } | undefined>(
      (best, each) => (each.keys.length > (best?.keys.length ?? 0) ? each : best),
      undefined,
    )
  if (found === undefined) return diagnostic
  const bare = /^mcp\.jsonc?$/.test(basename(found.file)) ? found.keys.slice(1) : found.keys
  return { ...diagnostic, file: found.file, ...(await locatorOf(found.file))(bare) }
}

function definitionFile(path: string, definedIn: ReadonlyMap<string, string>): string | undefined {
  const [kind = '', ...rest] = path.split('.')
  const file = rest.map((_, at) => definedIn.get(`${kind}/${rest.slice(0, at + 1).join('.')}`)).findLast((each) => each !== undefined)
  return file?.endsWith('.md') === true ? file : undefined
}

/** The line of a key of front matter, else the first. */
function lineOf(text: string, path: string): Position {
  const keys = path.split('.')
  const at = text.split('\n').findIndex((line) => keys.some((key) => line.startsWith(`${key}:`)))
  return { line: at === -1 ? 1 : at + 1, column: 1 }
}

/** The keys a dotted path leads through in a document, as far as they are there; a key may have dots itself. */
function keysOf(document: JsonRecord, path: string): Keys {
  const keys: (string | number)[] = []
  let at: unknown = document
  for (let rest = path; rest !== ''; ) {
    const key = nextKey(at, rest)
    if (key === undefined) return keys
    keys.push(Array.isArray(at) ? Number(key) : key)
    at = (at as JsonRecord)[key]
    rest = rest.slice(key.length + 1)
  }
  return keys
}

function nextKey(at: unknown, rest: string): string | undefined {
  if (!isRecord(at) && !Array.isArray(at)) return undefined
  if (Object.hasOwn(at, rest)) return rest
  const fitting = Object.keys(at).filter((key) => rest === key || rest.startsWith(`${key}.`))
  return fitting.toSorted((a, b) => b.length - a.length)[0]
}
