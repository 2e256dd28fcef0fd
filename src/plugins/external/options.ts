/** What may be chosen of an external agent, as it says it, checked and put into one form (subsystems l.2). Pure. */
import * as z from 'zod'
import { SvcError } from '../../protocol/errors.js'
import type { ExternalOptionsPreview } from '../../protocol/external/external.js'
import { LIMITS } from '../../protocol/limits.js'
import { cut } from '../../kernel/cut.js'

const { options: MOST, values: VALUES, commands: COMMANDS, text: TEXT } = LIMITS.external
const shown = z.string().transform((text) => cut(text, TEXT))
const text = shown.nullish().transform((value) => value ?? undefined)

const Value = z.object({ value: z.string().min(1), name: shown, description: text })
const Group = z.object({ group: z.string(), name: shown.optional(), options: z.array(Value).max(VALUES) })
const Select = z.object({
  type: z.literal('select'),
  id: z.string().min(1),
  name: shown,
  description: text,
  category: text,
  currentValue: z.string(),
  options: z.array(z.union([Value, Group])).max(VALUES),
})
type Select = z.infer<typeof Select>
const Options = z.array(Select).max(MOST)
const Modes = z.object({
  currentModeId: z.string(),
  availableModes: z.array(z.object({ id: z.string().min(1), name: shown, description: text })).max(VALUES),
})
const Session = z.looseObject({ sessionId: z.string().min(1), configOptions: z.unknown().optional(), modes: z.unknown().optional() })
const Commands = z.array(
  z.object({
    name: shown,
    description: shown,
    input: z
      .object({ hint: shown })
      .nullish()
      .transform((value) => value ?? undefined),
  }),
)

export interface Offered {
  readonly options: readonly Select[]
  /** The agent knows modes only. */
  readonly modeFallback: boolean
}

/** The option that modes become. */
const MODE = 'mode'

/** Of the answer to `session/new`. Throws a sentence. */
export function offeredBy(answer: unknown): Offered & { readonly sessionId: string } {
  const { sessionId, configOptions, modes } = read(Session, answer, 'its answer to session/new')
  if (configOptions != null) return { sessionId, ...offeredIn(configOptions) }
  if (modes == null) return { sessionId, options: [], modeFallback: false }
  const { currentModeId, availableModes } = read(Modes, modes, 'its modes')
  const values = availableModes.map(({ id, name, description }) => ({ value: id, name, description }))
  const option: Select = {
    type: 'select',
    id: MODE,
    name: 'Mode',
    description: undefined,
    category: MODE,
    currentValue: currentModeId,
    options: values,
  }
  return { sessionId, options: checked([option]), modeFallback: true }
}

export function offeredIn(configOptions: unknown): Offered {
  return { options: checked(read(Options, configOptions, 'its options')), modeFallback: false }
}

/** Of the answer to `session/set_config_option`. */
export function offeredAfter(answer: unknown): Offered {
  const { configOptions } = read(z.looseObject({ configOptions: z.unknown() }), answer, 'its answer to session/set_config_option')
  return offeredIn(configOptions)
}

export function withMode({ options }: Offered, value: string): Offered {
  return { options: options.map((option) => (option.id === MODE ? { ...option, currentValue: value } : option)), modeFallback: true }
}

/** The first of several: what chooses a model comes before what depends on it. */
export function inOrder(offered: Offered, selected: Readonly<Record<string, string>>): readonly string[] {
  const rank = new Map(offered.options.map(({ id, category }, index) => [id, category === 'model' ? -1 : index]))
  return Object.keys(selected).toSorted((a, b) => (rank.get(a) ?? MOST) - (rank.get(b) ?? MOST))
}

/** Throws `request.invalid` when it is not offered. */
export function requireOffered({ options }: Offered, id: string, value: string): void {
  const option = options.find((each) => each.id === id)
  if (option === undefined) throw new SvcError('request.invalid', `The agent has no option "${id}".`, { configId: id })
  if (!valuesOf(option).includes(value))
    throw new SvcError('request.invalid', `The option "${id}" of the agent has no value "${value}".`, { configId: id, value })
}

export function isChosen({ options }: Offered, id: string, value: string): boolean {
  return options.some((option) => option.id === id && option.currentValue === value)
}

export function commandsIn(update: unknown): ExternalOptionsPreview['availableCommands'] | undefined {
  const found = z
    .looseObject({ sessionUpdate: z.literal('available_commands_update'), availableCommands: z.array(z.unknown()) })
    .safeParse(update)
  if (!found.success) return undefined
  const commands = Commands.safeParse(found.data.availableCommands.slice(0, COMMANDS))
  return commands.success ? commands.data.map(withoutAbsent) : []
}

/** As it is told; nothing of the session or of the program stands in it. */
export function shownOptions({
  options,
  modeFallback,
}: Offered): Pick<ExternalOptionsPreview, 'configOptions' | 'modeFallback' | 'selectedOptions'> {
  return {
    configOptions: options.map(withoutAbsent),
    modeFallback,
    selectedOptions: Object.fromEntries(options.map(({ id, currentValue }) => [id, currentValue])),
  }
}

function checked(options: readonly Select[]): readonly Select[] {
  if (new Set(options.map(({ id }) => id)).size < options.length) throw new Error('two of its options have one id')
  for (const option of options) {
    const values = valuesOf(option)
    if (values.length > VALUES) throw new Error(`its option "${option.id}" has more than ${VALUES} values`)
    if (!values.includes(option.currentValue)) throw new Error(`its option "${option.id}" has a value that it does not offer`)
  }
  return options
}

function valuesOf({ options }: Select): readonly string[] {
  return options.flatMap((each) => ('group' in each ? each.options.map(({ value }) => value) : [each.value]))
}

function withoutAbsent(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>
}

function read<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new Error(`${what} cannot be read: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'malformed'}`)
}
