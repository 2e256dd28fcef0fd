/** Adapters as the configuration wants them (subsystems e.2). */
import * as z from 'zod'
import { isRecord, type JsonRecord } from '../../protocol/json.js'
import { LSP_ADAPTERS, type LspAdapter } from '../../protocol/lsp/adapters.js'

const strings = z.array(z.string().min(1))
const Entry = z.looseObject({
  enabled: z.boolean().optional(),
  disabled: z.boolean().optional(),
  /** An adapter of the registry whose files and markers it has. */
  adapter: z.string().optional(),
  name: z.string().min(1).optional(),
  command: z
    .union([
      z
        .string()
        .trim()
        .min(1)
        .transform((text) => text.split(/\s+/)),
      strings.min(1),
    ])
    .optional(),
  language: z.string().min(1).optional(),
  extensions: strings.optional(),
  filenamePatterns: strings.optional(),
  markers: strings.optional(),
  rootMarkers: strings.optional(),
  /** Added to the environment of the program. */
  env: z.record(z.string(), z.string()).optional(),
  documentLanguageId: z.string().min(1).optional(),
  initializationOptions: z.unknown().optional(),
  initialization: z.unknown().optional(),
  settings: z.unknown().optional(),
})

export interface ConfiguredAdapter extends LspAdapter {
  readonly name: string
  /** Configured by name: told even where no file speaks for it. */
  readonly isExplicit: boolean
  /** Its command stands in the configuration. */
  readonly ownCommand: boolean
  readonly env: Readonly<Record<string, string>>
  /** What its documents are said to be written in, whatever they are called. */
  readonly documentLanguageId?: string
  readonly initializationOptions?: unknown
  /** What it is told when it asks for its configuration. */
  readonly settings?: unknown
  /** Why its entry cannot be used. */
  readonly fault?: string
}

/**
 * In the order of the registry, then of the configuration; the same value for the same configuration. A wrong entry has a `fault` and leaves
 * the others alone.
 */
export function configuredAdapters(lsp: unknown): readonly ConfiguredAdapter[] {
  if (lsp === false) return NONE
  const entries = isRecord(lsp) ? lsp : NO_ENTRIES
  const known = adaptersOf.get(entries)
  if (known !== undefined) return known
  const made = readEntries(entries)
  adaptersOf.set(entries, made)
  return made
}

const NONE: readonly ConfiguredAdapter[] = []
const NO_ENTRIES: JsonRecord = {}
/** By the configuration they come from, which is another value when it has changed. */
const adaptersOf = new WeakMap<JsonRecord, readonly ConfiguredAdapter[]>()

function readEntries(entries: JsonRecord): readonly ConfiguredAdapter[] {
  const known = LSP_ADAPTERS.flatMap((adapter) =>
    Object.hasOwn(entries, adapter.id)
      ? configured(adapter.id, entries[adapter.id], adapter)
      : [{ ...adapter, name: adapter.id, isExplicit: false, ownCommand: false, env: {} }],
  )
  const ids = new Set(LSP_ADAPTERS.map(({ id }) => id))
  return [...known, ...Object.entries(entries).flatMap(([id, value]) => (ids.has(id) ? [] : configured(id, value, undefined)))]
}

const NOTHING = { command: [], extensions: [], names: [], markers: [], without: [] }

function configured(id: string, value: unknown, own: LspAdapter | undefined): readonly ConfiguredAdapter[] {
  if (value === false) return []
  const base = { ...(own ?? NOTHING), id, name: id, isExplicit: true, ownCommand: false, env: {} }
  const read = Entry.safeParse(value)
  if (!read.success) return [{ ...base, fault: faultOf(read.error) }]
  const {
    enabled,
    disabled,
    adapter: likeId,
    name = id,
    command,
    language,
    extensions,
    filenamePatterns,
    markers,
    rootMarkers,
    ...started
  } = read.data
  if (enabled === false || disabled === true) return []
  const like = likeId === undefined ? own : LSP_ADAPTERS.find((each) => each.id === likeId)
  if (likeId !== undefined && like === undefined) return [{ ...base, name, fault: `there is no adapter "${likeId}"` }]
  const { env = {}, documentLanguageId, initialization, initializationOptions = initialization, settings } = started
  const merged = {
    ...(like ?? NOTHING),
    id,
    name,
    isExplicit: true,
    ownCommand: command !== undefined,
    env,
    initializationOptions,
    settings,
    ...(documentLanguageId !== undefined && { documentLanguageId }),
    ...(command !== undefined && { command, endpoint: undefined }),
    ...(language !== undefined && { language }),
    ...(extensions !== undefined && { extensions: extensions.map((each) => each.replace(/^\./, '').toLowerCase()) }),
    ...(filenamePatterns !== undefined && { names: filenamePatterns }),
    ...((rootMarkers ?? markers) !== undefined && { markers: rootMarkers ?? markers ?? [] }),
  }
  const { endpoint, ...rest } = merged
  const result = endpoint === undefined ? rest : { ...rest, endpoint }
  return [rest.command.length === 0 && endpoint === undefined ? { ...result, fault: 'needs a command' } : result]
}

function faultOf({ issues: [first] }: z.ZodError): string {
  return first === undefined || first.path.length === 0 ? 'must be false or an object' : `"${first.path.join('.')}": ${first.message}`
}
