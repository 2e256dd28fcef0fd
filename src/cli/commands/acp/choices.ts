/** What an editor may choose for a session: who answers, by which model, with how much effort. */
import { RequestError, type SessionConfigOption, type SessionModeState } from '@agentclientprotocol/sdk'
import type { Client } from '../../../published/client/client-types.js'

export interface Choices {
  readonly agent: string
  /** `provider/model`; undefined = no model can be used yet. */
  readonly model: string | undefined
  readonly variant: string | undefined
}

interface Model {
  readonly id: string
  readonly name: string
  readonly variants: readonly string[]
  /** Tokens of its window. */
  readonly context: number
}

/** What there is to choose from in a directory. */
export interface Offers {
  readonly agents: readonly { readonly name: string; readonly description?: string | undefined }[]
  readonly models: readonly Model[]
  readonly byDefault: Choices
}

/** The effort of a model that is not asked for any other. */
const USUAL = 'default'

export async function readOffers(client: Client, directory: string): Promise<Offers> {
  const [agents, { providers, default: defaults }, config] = await Promise.all([
    client.agents.list({ directory }),
    client.providers.configured({ directory }),
    client.config.get({ directory }),
  ])
  const models = providers.flatMap((provider) =>
    Object.values(provider.models).map(({ id, name, variants, limit }) => ({
      id: `${provider.id}/${id}`,
      name: `${provider.name}: ${name}`,
      variants: Object.keys(variants ?? {}),
      context: limit.context,
    })),
  )
  const answering = agents.filter(({ mode, hidden }) => !hidden && mode !== 'subagent')
  const named = config['model']
  const [first] = Object.entries(defaults).map(([providerId, modelId]) => `${providerId}/${modelId}`)
  const isKnown = (id: unknown): id is string => models.some((model) => model.id === id)
  const agent =
    answering.find(({ name }) => name === config['defaultAgent']) ?? answering.find(({ name }) => name === 'build') ?? answering[0]
  return {
    agents: answering,
    models,
    byDefault: {
      agent: agent?.name ?? '',
      model: [named, first, models[0]?.id].find(isKnown),
      variant: undefined,
    },
  }
}

export function modesOf({ agents }: Offers, { agent }: Choices): SessionModeState {
  return {
    currentModeId: agent,
    availableModes: agents.map(({ name, description }) => ({ id: name, name, ...(description !== undefined && { description }) })),
  }
}

/** As `modesOf`, for editors that ask for models by themselves. */
export function modelsOf({ models }: Offers, { model }: Choices): object {
  return { currentModelId: model ?? '', availableModels: models.map(({ id, name }) => ({ modelId: id, name })) }
}

export function optionsOf(offers: Offers, choices: Choices): SessionConfigOption[] {
  const { agents, models } = offers
  const variants = models.find(({ id }) => id === choices.model)?.variants ?? []
  const select = (id: string, name: string, category: string, currentValue: string, options: { value: string; name: string }[]) =>
    options.length === 0 ? [] : [{ type: 'select' as const, id, name, category, currentValue, options }]
  const plain = (names: readonly string[]) => names.map((name) => ({ value: name, name }))
  return [
    ...select('mode', 'Agent', 'mode', choices.agent, plain(agents.map(({ name }) => name))),
    ...(choices.model === undefined
      ? []
      : select(
          'model',
          'Model',
          'model',
          choices.model,
          models.map(({ id, name }) => ({ value: id, name })),
        )),
    ...(variants.length === 0
      ? []
      : select(
          'effort',
          'Effort',
          'thought_level',
          choices.variant ?? USUAL,
          plain([USUAL, ...variants.filter((name) => name !== USUAL)]),
        )),
  ]
}

/** The choices after one of them was made. Throws `-32602` for what is not offered. */
export function choose(offers: Offers, choices: Choices, configId: string, value: unknown): Choices {
  const option = optionsOf(offers, choices).find(({ id }) => id === configId)
  if (option === undefined) throw RequestError.invalidParams({ configId }, 'there is no such option')
  const values = option.type === 'select' ? option.options.flatMap((each) => ('value' in each ? [each.value] : [])) : []
  if (typeof value !== 'string' || !values.includes(value))
    throw RequestError.invalidParams({ configId, value, offered: values.slice(0, 20) }, 'this is not offered')
  if (configId === 'mode') return { ...choices, agent: value }
  if (configId === 'effort') return { ...choices, variant: value === USUAL ? undefined : value }
  const isOfModel = (name: string | undefined) =>
    name !== undefined && offers.models.some(({ id, variants }) => id === value && variants.includes(name))
  return { ...choices, model: value, variant: isOfModel(choices.variant) ? choices.variant : undefined }
}
