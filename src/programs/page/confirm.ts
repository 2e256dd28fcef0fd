/** Asks before something is done, and says exactly what. */
import type { InspectedPlugin } from '../../protocol/system/inspector.js'
import { byId, h } from './elements.js'
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
  const rows = act === 'approve' ? approved(plugin) : [['plugin', plugin.pluginId] as const]
  const [yes, no] = [h('button', { type: 'button', class: 'yes' }, TITLES[act].replace('?', '')), h('button', { type: 'button' }, 'Cancel')]
  dialog.replaceChildren(
    h('h2', {}, TITLES[act]),
    h('dl', {}, ...rows.flatMap(([name, text]) => [h('dt', {}, name), h('dd', {}, text)])),
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

function approved(plugin: InspectedPlugin): (readonly [string, string])[] {
  const { pluginId, revision = '', digest = '', runtime, scope, scopeId, workspace, source, requestedCapabilities: requested } = plugin
  return [
    ['package', `${pluginId} (${source ?? ''})`],
    ['content', revision],
    ['digest', digest],
    ['runs as', runtime === 'lua' ? 'Lua, in a sandbox' : 'a program, with your rights where no bubblewrap contains it'],
    ['scope', [scope, scopeId, workspace].filter(Boolean).join(' · ')],
    ['grants', requested.length === 0 ? 'none: it asks nothing of the host' : requested.join(', ')],
  ]
}
