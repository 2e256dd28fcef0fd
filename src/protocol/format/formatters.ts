/** Programs that format what tools have written, as the configuration wants them (subsystems b.12; key `formatter`). */
import * as z from 'zod'
import { isRecord } from '../text/json.js'

/** Where the changed file stands in a command. */
export const FILE = '$FILE'

/** What must be true around a file before a built-in formatter runs on it. */
type FormatterGuard = 'biome' | 'clang-format' | 'prettier' | 'ruff' | 'rust'

export interface Formatter {
  readonly id: string
  /** Program and arguments; `$FILE` is the file, without which the text goes through the program. */
  readonly command: readonly string[]
  /** Lower case, without a dot. */
  readonly extensions: readonly string[]
  /** Added to the environment of the program. */
  readonly environment: Readonly<Record<string, string>>
  /** Undefined: it runs on every file with one of its extensions. */
  readonly guard?: FormatterGuard
  /** Why its entry cannot be used, as the rest of a sentence that begins with it. */
  readonly fault?: string
}

const words = (text: string) => text.split(' ')
const builtIn = (id: string, command: string, extensions: string, guard?: FormatterGuard): Formatter => ({
  id,
  command: words(command),
  extensions: words(extensions),
  environment: {},
  ...(guard !== undefined && { guard }),
})

/** In the order in which they run. `rustfmt` reads the text, because given a file it formats the modules of it as well. */
const BUILT_IN: readonly Formatter[] = [
  builtIn('rustfmt', 'rustfmt --emit stdout', 'rs', 'rust'),
  builtIn('gofmt', `gofmt -w ${FILE}`, 'go'),
  builtIn('zig', `zig fmt ${FILE}`, 'zig zon'),
  builtIn('clang-format', `clang-format -i ${FILE}`, 'c cc cpp cxx c++ h hh hpp hxx h++ ino m mm', 'clang-format'),
  builtIn(
    'prettier',
    `prettier --write ${FILE}`,
    'js jsx mjs cjs ts tsx mts cts html htm vue css scss less json jsonc json5 yaml yml md mdx graphql gql hbs',
    'prettier',
  ),
  builtIn('biome', `biome format --write ${FILE}`, 'js jsx mjs cjs ts tsx mts cts json jsonc css graphql gql', 'biome'),
  builtIn('ruff', `ruff format ${FILE}`, 'py pyi', 'ruff'),
]

const Entry = z.looseObject({
  disabled: z.boolean().optional(),
  command: z
    .union([
      z
        .string()
        .trim()
        .min(1)
        .transform((text) => text.split(/\s+/)),
      z.array(z.string().min(1)).min(1),
    ])
    .optional(),
  extensions: z.array(z.string().min(1)).optional(),
  environment: z.record(z.string(), z.string()).optional(),
})
export const FORMATTER_KEYS: ReadonlySet<string> = new Set(Object.keys(Entry.shape))

/** What the key `formatter` amounts to; nothing unless it is `true` or an object. A wrong entry has a `fault` and leaves the others alone. */
export function configuredFormatters(formatter: unknown): readonly Formatter[] {
  if (formatter === true) return BUILT_IN
  if (!isRecord(formatter) || formatter['disabled'] === true) return []
  const ids = new Set(BUILT_IN.map(({ id }) => id))
  const others = Object.entries(formatter).filter(([id]) => id !== 'disabled' && !ids.has(id))
  return [
    ...BUILT_IN.flatMap((own) => (Object.hasOwn(formatter, own.id) ? configured(own.id, formatter[own.id], own) : [own])),
    ...others.flatMap(([id, entry]) => configured(id, entry, undefined)),
  ]
}

const NOTHING = { command: [], extensions: [], environment: {} }

function configured(id: string, entry: unknown, own: Formatter | undefined): readonly Formatter[] {
  if (entry === false) return []
  const read = Entry.safeParse(entry)
  if (!read.success) return [{ ...(own ?? NOTHING), id, fault: faultOf(read.error) }]
  const { disabled, command, extensions, environment } = read.data
  if (disabled === true) return []
  const { guard, ...base } = own ?? { ...NOTHING, guard: undefined }
  const merged = {
    ...base,
    id,
    ...(command === undefined ? guard !== undefined && { guard } : { command }), // a command of the configuration is meant for every file
    ...(extensions !== undefined && { extensions: extensions.map((each) => each.replace(/^\./, '').toLowerCase()) }),
    ...(environment !== undefined && { environment }),
  }
  const fault = command === undefined && own === undefined ? 'needs a command' : whyUseless(merged, command !== undefined)
  return [fault === undefined ? merged : { ...merged, fault }]
}

/** A program that is not given the one file could change others, which nobody would note. */
function whyUseless({ command, extensions }: Formatter, isOwn: boolean): string | undefined {
  if (isOwn && !command.slice(1).some((word) => word.includes(FILE))) return `needs ${FILE} among the arguments of its command`
  return extensions.length === 0 ? 'needs extensions' : undefined
}

function faultOf({ issues: [first] }: z.ZodError): string {
  return first === undefined || first.path.length === 0 ? 'must be false or an object' : `"${first.path.join('.')}": ${first.message}`
}
