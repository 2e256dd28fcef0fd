/** Defects of delegated tasks, of scheduled workflows and of tools. */
import type { NativeHost, NativePlugin, ToolContribution } from '../../src/ports/plugin.js'
import type { PluginRowTable } from '../../src/store/plugin-rows.js'
import type { Defect } from './life.js'
import { SUBAGENTS, WORKFLOWS } from './rows.js'

type Door = NativeHost['sessions']
type Contributions = ReturnType<NativePlugin['start']>

/** What a plugin finds of the sessions is exchanged. */
const doorOf = (id: string, change: (sessions: Door, host: NativeHost) => Partial<Door>): Defect => ({
  plugin: (plugin) =>
    plugin.id === id
      ? { ...plugin, start: (host) => plugin.start({ ...host, sessions: { ...host.sessions, ...change(host.sessions, host) } }) }
      : plugin,
})

const offersOf = (id: string, change: (offers: Contributions) => Partial<Contributions>): Defect => ({
  plugin(plugin) {
    if (plugin.id !== id) return plugin
    return {
      ...plugin,
      start(host) {
        const offers = plugin.start(host)
        return { ...offers, ...change(offers) }
      },
    }
  },
})

const toolsOf = (change: (tool: ToolContribution) => Partial<ToolContribution>): Defect =>
  offersOf('test.played', ({ tools = [] }) => ({ tools: tools.map((tool) => ({ ...tool, ...change(tool) })) }))

const rowsOf = (change: (rows: PluginRowTable) => Partial<PluginRowTable>): Defect => ({
  store: (store) => ({ ...store, pluginRows: { ...store.pluginRows, ...change(store.pluginRows) } }),
})

/** Rows that are not written. */
const losing = (id: string, isLost: (kind: string, data: Readonly<Record<string, unknown>>) => boolean): Defect =>
  rowsOf((rows) => ({
    put(plugin, kind, row) {
      if (plugin !== id || !isLost(kind, (row.data ?? {}) as Readonly<Record<string, unknown>>)) rows.put(plugin, kind, row)
    },
    delete(plugin, kind, row) {
      if (plugin !== id || !isLost(`no ${kind}`, {})) rows.delete(plugin, kind, row)
    },
  }))

/** A start finds none that are open. */
const forgetting = (id: string): Defect =>
  rowsOf((rows) => ({ list: (plugin, kind, query) => (plugin === id && kind === 'open' ? [] : rows.list(plugin, kind, query)) }))

const projectionOf = (data: Readonly<Record<string, unknown>>) => data['projection'] as Readonly<Record<string, unknown>>

export const WORK_DEFECTS: Readonly<Record<string, () => Defect>> = {
  'an abort that leaves the tasks of its run': () => doorOf(SUBAGENTS, () => ({ abort: async () => true })),
  'an outcome that is told twice': () =>
    doorOf(SUBAGENTS, (sessions) => ({
      tell(sessionId, notice, along) {
        sessions.tell(sessionId, notice, along)
        sessions.tell(sessionId, notice)
      },
    })),
  'an outcome that is not told': () =>
    doorOf(SUBAGENTS, (_, host) => ({ tell: (_sessionId, _notice, along) => host.rows.commit('process', (tx) => along?.(tx)) })),
  'an outcome that is told again after a start': () =>
    losing(SUBAGENTS, (kind, { status }) => kind === 'no open' || (kind === 'task' && status === 'delivered')),
  'tasks that a start does not take up': () => forgetting(SUBAGENTS),
  'an occurrence that is run again after a start': () => {
    const isLost = (kind: string, data: Readonly<Record<string, unknown>>) =>
      kind === 'activation' && typeof projectionOf(data)['lastScheduledAt'] === 'number'
    const { store } = losing(WORKFLOWS, isLost)
    const claiming = rowsOf((rows) => ({
      insert: (plugin, kind, row) => (plugin === WORKFLOWS && kind === 'claim') || rows.insert(plugin, kind, row),
    }))
    return { store: (given) => claiming.store?.(store?.(given) ?? given) ?? given }
  },
  'a pause that a start forgets': () => losing(WORKFLOWS, (kind, data) => kind === 'activation' && projectionOf(data)['active'] === false),
  'runs of workflows that a start does not end': () => forgetting(WORKFLOWS),
  'a prompt of a run that is submitted twice': () =>
    doorOf(WORKFLOWS, (sessions, { effects: { ids } }) => ({
      async prompt(sessionId, request) {
        await sessions.prompt(sessionId, request)
        await sessions.prompt(sessionId, { ...request, messageId: ids.next('msg') })
      },
    })),
  'the end of a run of a workflow that is lost': () => losing(WORKFLOWS, (kind, { status }) => kind === 'run' && status === 'completed'),
  'a call that is executed twice': () =>
    toolsOf((tool) => ({
      async invoke(input, context) {
        await tool.invoke(input, context)
        return tool.invoke(input, context)
      },
    })),
  'a permission that is not asked for': () => toolsOf(() => ({ needs: async () => [] })),
}
