/** Asks before something is done, and says exactly what. */
import type { InspectedPlugin } from '../../protocol/system/inspector.js'
import { byId, h } from './elements.js'
import { grantChanges } from './plugin-words.js'
import { shownLine } from './shown-text.js'
import type { Move } from './plugin-moves.js'

const TITLES: Readonly<Record<NonNullable<Move['act']>, string>> = {
  approve: 'Approve exactly this?',
  withdraw: 'Take the approval back?',
  disable: 'Switch it off?',
  enable: 'Switch it on?',
  reload: 'Start another generation?',
}

const CONSEQUENCES: Readonly<Record<NonNullable<Move['act']>, string>> = {
  approve: 'The approval names this content; whatever is changed afterwards is asked about again.',
  withdraw: 'What runs of it is retired at once, and calls under way fail.',
  disable: 'It takes no more calls. Calls under way get ten seconds.',
  enable: 'It starts as another generation.',
  reload: 'It is switched off and on again. Calls under way get ten seconds.',
}

/** Resolves with whether it was confirmed. */
export function confirmed(plugin: InspectedPlugin, act: NonNullable<Move['act']>): Promise<boolean> {
  const dialog = byId('confirm')
  if (!(dialog instanceof HTMLDialogElement)) throw new Error('#confirm is no dialog')
  const rows = act === 'approve' ? approved(plugin) : [['plugin', [plugin.pluginId]] as const]
  const [yes, no] = [h('button', { type: 'button', class: 'yes' }, TITLES[act].replace('?', '')), h('button', { type: 'button' }, 'Cancel')]
  dialog.replaceChildren(
    h('h2', {}, TITLES[act]),
    h('dl', {}, ...rows.flatMap(([name, lines]) => [h('dt', {}, name), h('dd', {}, ...lines.map((line) => h('p', {}, shownLine(line))))])),
    h('p', {}, CONSEQUENCES[act]),
    h('p', { class: 'choice' }, no, yes),
  )
  return new Promise((resolve) => {
    yes.addEventListener('click', () => dialog.close('yes'))
    no.addEventListener('click', () => dialog.close('no'))
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true })
    dialog.returnValue = ''
    dialog.showModal()
    no.focus()
  })
}

/** The exact content, and in words what it may then do; against what serves, where that is other content. */
export function approved(plugin: InspectedPlugin): (readonly [string, readonly string[]])[] {
  const { pluginId, revision = '', digest = '', runtime, scope, scopeId, workspace, source, retainedRevision, native } = plugin
  return [
    ['package', [`${pluginId} (${source ?? ''})`]],
    ['content', [revision]],
    ['digest', [digest]],
    ...(retainedRevision === undefined ? [] : [['instead of', [retainedRevision]] as const]),
    ['runs as', [runtime === 'lua' ? 'Lua, in a sandbox' : 'a program, with your rights where no bubblewrap contains it']],
    ['scope', [[scope, scopeId, workspace].filter(Boolean).join(' · ')]],
    ['grants', grantLines(plugin)],
    ...(native === undefined
      ? []
      : [['not approved', [`its native part, which would run inside of the server: only the command approves it`]] as const]),
  ]
}

function grantLines(plugin: InspectedPlugin): string[] {
  const { requestedCapabilities: requested, requests = [] } = plugin
  const { added, dropped } = grantChanges(plugin)
  const asked = requested.map((capability) => {
    const words = requests.find((request) => request.capability === capability)?.words
    return `${added.includes(capability) ? 'new: ' : ''}${capability}${words === undefined ? '' : `: it may ${words}`}`
  })
  const lines = [...asked, ...dropped.map((capability) => `no longer: ${capability}`)]
  return lines.length === 0 ? ['none: it asks nothing of the host'] : lines
}
