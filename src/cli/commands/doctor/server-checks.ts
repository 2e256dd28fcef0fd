/** Checks through the API: of a running server, or of one started for the purpose. */
import { resolve } from 'node:path'
import { createNodeEffects } from '../../../platform/node/node-effects.js'
import type { ConfigDiagnostic } from '../../../protocol/resource/config.js'
import { SvcError } from '../../../protocol/errors.js'
import type { Readiness } from '../../../protocol/system/system.js'
import type { DoctorOptions } from './doctor-page.js'
import type { Client } from '../../../published/client/client-types.js'
import { type Connection, connect } from '../../connection.js'
import { failureText } from '../../failure.js'
import { type Finding, finding } from '../../findings.js'
import { inspectAgents } from './agent-checks.js'
import { inspectFormatters } from './formatter-checks.js'
import { inspectLanguageServers } from './lsp-checks.js'
import { inspectMcpServers } from './mcp-checks.js'
import { modelFinding } from './model-check.js'

/** Findings about the server, the configuration of the directory and its providers. */
export async function inspectServer(options: DoctorOptions): Promise<Finding[]> {
  const query = { directory: resolve(options.directory ?? '.') }
  try {
    const connection = await connect(options.server)
    try {
      const { client } = connection
      const turnedAway = await refusalOf(client)
      if (turnedAway !== undefined) return [await health(connection), turnedAway]
      const diagnostics = await validation(client, query)
      return [
        await health(connection),
        ...configuration(diagnostics, query),
        ...(await providers(client, query, diagnostics)),
        await modelFinding(client, query),
        ...(await packages(connection, query)),
        ...(await inspectMcpServers(client, query)),
        ...(await inspectLanguageServers(client, query)),
        ...(await inspectFormatters(client, query, createNodeEffects())),
        ...(await inspectAgents(query, createNodeEffects(), process.env)),
        ...(options.online ? await (await import('./online-checks.js')).inspectOnline(client, query) : []),
      ]
    } finally {
      await connection.close()
    }
  } catch (error) {
    return [{ level: 'error', check: 'server', detail: failureText(error) }]
  }
}

/** A server that does not know the caller tells so once, and not in the place of everything that it would be asked. */
async function refusalOf(client: Client): Promise<Finding | undefined> {
  try {
    await client.meta.get()
    return undefined
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!code.startsWith('auth.')) return undefined // whatever is asked next says what is wrong
    return { level: 'error', check: 'server', detail: `nothing else was asked: ${failureText(error)}` }
  }
}

function health({ client, url, isOwn }: Connection): Promise<Finding> {
  return finding('server', async () => {
    const { healthy, version, readiness } = await client.health()
    if (!healthy) throw new Error('answers, but is not healthy')
    if (readiness?.ready === false) throw new Error(`answers, but is not ready for work: ${whyNotReady(readiness)}`)
    return isOwn ? `none runs here; one started for this check answers, version ${version}` : `${url} answers, version ${version}`
  })
}

function whyNotReady({ store, disk }: Readiness): string {
  const parts = Object.entries({ store, disk }).filter(([, { ready }]) => !ready)
  return parts.map(([part, { reason }]) => `${part} (${reason ?? 'it does not say why'})`).join(', ')
}

/** What cannot be asked is a finding of its own. */
async function validation(client: Client, query: { directory: string }): Promise<readonly ConfigDiagnostic[]> {
  try {
    return (await client.config.validate(query)).diagnostics
  } catch (error) {
    return [{ level: 'error', path: '', message: failureText(error) }]
  }
}

function configuration(diagnostics: readonly ConfigDiagnostic[], { directory }: { directory: string }): Finding[] {
  if (diagnostics.length === 0) return [{ level: 'ok', check: 'configuration', detail: directory }]
  return diagnostics.map(({ level, path, message }) => ({
    level,
    check: 'configuration',
    detail: path === '' ? message : `${path}: ${message}`,
  }))
}

/** Every package of the installation and the workspace, started once where it may. What only waits for a yes keeps no prompt from its answer. */
async function packages({ client, url, isOwn }: Connection, query: { directory: string }): Promise<Finding[]> {
  const [{ entryFindings, packageFindings, serverFindings }, { entryRows }, { openPluginPlace }] = await Promise.all([
    import('../plugin/plugin-doctor.js'),
    import('../plugin/plugin-entries.js'),
    import('../plugin/plugin-place.js'),
  ])
  try {
    await client.tools.list(query) // waits until they have started
    const lives = await client.plugins.lifecycle(query)
    const plugins = await client.plugins.list(query)
    const place = await openPluginPlace(query.directory)
    const entries = entryFindings(await entryRows(place, plugins))
    if (lives.length === 0) return [{ level: 'ok', check: 'plugins', detail: 'no packages here' }, ...entries]
    const found = [
      ...(await packageFindings(place, place.packages)),
      ...serverFindings({ type: 'answered', url, packages: lives, plugins, isOwn }, undefined),
      ...entries,
    ]
    const waiting = new Set(lives.filter(({ state }) => state === 'permission-required').map(({ packageId }) => packageId))
    return found
      .filter(({ check, detail }) => !waiting.has(check) || !detail.includes('permission-required'))
      .map((each) => (waiting.has(each.check) && each.level === 'error' ? { ...each, level: 'warning' } : each))
  } catch (error) {
    return [{ level: 'error', check: 'plugins', detail: failureText(error).split('\n')[0] ?? '' }]
  }
}

/** What can be used, and of the rest that is configured how it could be. */
async function providers(client: Client, query: { directory: string }, diagnostics: readonly ConfigDiagnostic[]): Promise<Finding[]> {
  const level = 'warning'
  const check = 'providers'
  try {
    const { all, connected } = await client.providers.list(query)
    if (connected.length === 0) throw new SvcError('provider.failed', 'no provider can be used')
    const unusable = all.filter(({ id, source }) => source === 'config' && !connected.includes(id))
    return [
      { level: 'ok', check, detail: connected.join(', ') },
      ...unusable.map(({ id, env }) => {
        const cause = diagnostics.find(({ path }) => path === `provider.${id}.npm`)?.message
        const need = env.length === 0 ? '' : `; if it needs a key, start svc with ${env.join(' or ')} set`
        return { level, check, detail: `${id} cannot be used${cause === undefined ? need : `: ${cause}`}` } as const
      }),
    ]
  } catch (error) {
    return [{ level, check, detail: failureText(error).split('\n')[0] ?? '' }]
  }
}
