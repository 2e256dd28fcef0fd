/** The fragment of the address: what is looked at, so that a link leads to the same actor and the same moment. */

export interface Address {
  readonly tab?: string | undefined
  readonly actor?: string | undefined
  /** Key of the plugin whose page is open. */
  readonly plugin?: string | undefined
  /** The session whose turns are shown. */
  readonly session?: string | undefined
  /** The last record that had happened; absent while the present is looked at. */
  readonly at?: Moment | undefined
  readonly lanes: readonly string[]
  /** The sequence diagram stands in the place of the log. */
  readonly isSequence: boolean
}

/** Numbers begin anew when a server does; with its time a record is what it was. */
export interface Moment {
  readonly sequence: number
  readonly time: number
}

export function readAddress(hash: string): Address {
  const fields = new URLSearchParams(hash.replace(/^#/, ''))
  const [, sequence, time] = /^(\d{1,15})-(\d{1,15})$/.exec(fields.get('at') ?? '') ?? []
  return {
    tab: fields.get('tab') ?? undefined,
    actor: fields.get('actor') ?? undefined,
    plugin: fields.get('plugin') ?? undefined,
    session: fields.get('session') ?? undefined,
    at: sequence === undefined ? undefined : { sequence: Number(sequence), time: Number(time) },
    lanes: fields.getAll('lane'),
    isSequence: fields.has('sequence'),
  }
}

export function writeAddress({ tab, actor, plugin, session, at, lanes, isSequence }: Address): string {
  const fields = new URLSearchParams()
  if (tab !== undefined && tab !== 'actors') fields.set('tab', tab)
  if (actor !== undefined) fields.set('actor', actor)
  if (plugin !== undefined) fields.set('plugin', plugin)
  if (session !== undefined) fields.set('session', session)
  if (at !== undefined) fields.set('at', `${at.sequence}-${at.time}`)
  for (const lane of lanes) fields.append('lane', lane)
  if (isSequence) fields.set('sequence', '1')
  return `#${fields.toString().replaceAll('%2F', '/').replaceAll('%3A', ':').replaceAll('%40', '@')}`
}
