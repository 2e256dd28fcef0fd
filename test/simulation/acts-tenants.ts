/** What tenants do with their own sessions. */
import type { Acting } from './acting.js'
import type { Play } from './history.js'

export type TenantStep =
  | { readonly do: 'tenant'; readonly tenant: number; readonly how: 'creates' | 'aborts' | 'deletes' }
  | { readonly do: 'tenant-asks'; readonly tenant: number; readonly name: number; readonly plays: readonly Play[] }

const MOST = 2

export function actAsTenant({ known, life, ids, call }: Acting, step: TenantStep): void | Promise<void> {
  const tenant = known.tenants[step.tenant]
  if (tenant === undefined) return
  const { caller, directory, sessions } = tenant
  const { sessions: facade } = life.runtime
  const [newest] = sessions.slice(-1)
  if (step.do === 'tenant-asks') {
    if (newest === undefined) return
    known.plays.set(String(step.name), step.plays)
    const request = { prompt: `p${step.name}`, messageId: ids.next('msg'), delivery: 'queue' as const }
    return call('tenant asks', () => facade.submitPrompt(caller, newest, request, 'prompt'))
  }
  switch (step.how) {
    case 'creates':
      if (sessions.length >= MOST) return
      return call(
        'tenant creates',
        async () => {
          await life.disk.makeDirectory(directory)
          return facade.create(caller, directory, { title: 'Of a tenant' })
        },
        ({ id }) => sessions.push(id),
      )
    case 'aborts':
      return newest === undefined ? undefined : call('tenant aborts', () => facade.abort(newest, { queue: 'go-on' }))
    case 'deletes':
      if (newest === undefined) return
      sessions.pop()
      return call('tenant deletes', () => facade.delete(caller, newest))
  }
}
