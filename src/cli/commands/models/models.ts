/** `svc models` and `svc providers`: what can be used, and what the rest needs. */
import { resolve } from 'node:path'
import { SvcError } from '../../../protocol/errors.js'
import type { Provider, ProviderModel } from '../../../protocol/provider/provider.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { connect } from '../../connection.js'
import { FIRST_STEPS } from '../../first-steps.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'
import { columns } from '../plugin/plugin-words.js'
import { meant } from '../../line/nearest.js'
import type { ModelsOptions, PlaceOptions, ProvidersOptions } from './models-options.js'

/** Prints `provider/model` lines, sorted; answers 0. Throws `SvcError` for a provider there is not. */
export async function listModels({ provider, verbose, ...place }: ModelsOptions): Promise<number> {
  const { all, usable, defaults } = await look(place)
  const chosen = provider === undefined ? usable : [all.find(({ id }) => id === provider) ?? unknown(provider, all)]
  const models = chosen.flatMap((each) => Object.values(each.models)).toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  if (place.json)
    writeOut(
      `${jsonText(
        models.map((model) => modelRecord(model, defaults)),
        2,
      )}\n`,
    )
  else if (verbose) writeOut(columns([['MODEL', 'WINDOW', 'INPUT', 'OUTPUT', 'NAME'], ...models.map(rowOf)]))
  else for (const model of models) writeOut(`${printable(nameOf(model))}\n`)
  if (provider === undefined && usable.every(isBuiltIn)) hint()
  return 0
}

/** Prints one line for each provider; answers 0. */
export async function listProviders({ all: isAll, ...place }: ProvidersOptions): Promise<number> {
  const { all, usable, connected } = await look(place)
  const shown = all.filter((provider) => isAll || connected.has(provider.id) || provider.source === 'config')
  const records = shown.map((provider) => ({
    id: provider.id,
    name: provider.name,
    source: provider.source,
    connected: connected.has(provider.id),
    usable: usable.some(({ id }) => id === provider.id),
    env: provider.env,
    models: Object.keys(provider.models).length,
  }))
  if (place.json) writeOut(`${jsonText(records, 2)}\n`)
  else {
    const rows = records.map((record) => [record.id, stateOf(record), String(record.models), record.name].map(printable))
    writeOut(columns([['PROVIDER', 'STATE', 'MODELS', 'NAME'], ...rows]))
  }
  if (usable.every(isBuiltIn)) hint()
  return 0
}

function stateOf({ usable, connected, env }: { usable: boolean; connected: boolean; env: readonly string[] }): string {
  if (usable) return 'can be used'
  if (connected) return 'has no model that can be used'
  return env.length === 0 ? 'cannot be used' : `needs ${env.join(' or ')}`
}

async function look({ directory, server }: PlaceOptions) {
  const connection = await connect(server)
  try {
    const query = { directory: resolve(directory ?? '.') }
    const { all, connected } = await connection.client.providers.list(query)
    const { providers: usable, default: defaults } = await connection.client.providers.configured(query)
    return { all, connected: new Set(connected), usable, defaults }
  } finally {
    await connection.close()
  }
}

function unknown(id: string, all: readonly Provider[]): never {
  const ids = all.map((provider) => provider.id)
  throw new SvcError('resource.not_found', `there is no provider "${id}"${meant(id, ids) || `; there are ${ids.join(', ')}`}`)
}

function modelRecord(model: ProviderModel, defaults: Readonly<Record<string, string>>) {
  const { id, providerId, name, status, limit, cost } = model
  return { model: nameOf(model), providerId, modelId: id, name, status, limit, cost, isDefault: defaults[providerId] === id }
}

function rowOf(model: ProviderModel): string[] {
  const { limit, cost, name } = model
  const price = (rate: number) => (rate === 0 ? '-' : `$${rate}`)
  return [nameOf(model), limit.context === 0 ? '-' : String(limit.context), price(cost.input), price(cost.output), name].map(printable)
}

function nameOf({ providerId, id }: ProviderModel): string {
  return `${providerId}/${id}`
}

function isBuiltIn({ source }: Provider): boolean {
  return source === 'builtin'
}

function hint(): void {
  writeError(`${FIRST_STEPS.join('\n')}\n`)
}
