/** The plugins by name: those people brought first, those that came with svc folded below; where there are no others, open. */
import type { InspectedPlugin } from '../../../protocol/system/inspector.js'
import { h } from '../elements.js'
import { placeName } from '../names.js'

export interface PluginList {
  update(plugins: readonly InspectedPlugin[], selected: string | undefined): void
}

export function pluginList(own: HTMLElement, builtIn: HTMLElement, count: HTMLElement, onSelect: (key: string) => void): PluginList {
  let isLookedAt = false

  const fill = (element: HTMLElement, plugins: readonly InspectedPlugin[], selected: string | undefined) => {
    const rows = plugins.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map((plugin) => row(plugin, plugin.key === selected))
    const next = h('div', {}, ...rows)
    if (next.innerHTML === element.innerHTML || element.matches(':active')) return
    const focused = focusedKey(element)
    element.replaceChildren(...rows)
    if (focused !== undefined) rows.find(({ dataset }) => dataset['key'] === focused)?.focus()
  }

  function row({ key, pluginId, workspace, origin, state, strikes }: InspectedPlugin, isSelected: boolean): HTMLElement {
    const element = h(
      'button',
      {
        type: 'button',
        class: 'plugin',
        title: key,
        'data-key': key,
        'data-plugin': pluginId,
        'data-state': state,
        'aria-current': isSelected ? 'true' : undefined,
      },
      h('span', { class: 'name' }, pluginId),
      h('span', { class: `badge state-${state}` }, state),
      h(
        'small',
        {},
        [workspace === undefined ? undefined : placeName(workspace), origin, strikes > 0 && `${strikes} ✕`].filter(Boolean).join(' · '),
      ),
    )
    element.addEventListener('click', () => onSelect(key))
    return element
  }

  return {
    update(plugins, selected) {
      const isOwn = ({ origin }: InspectedPlugin) => origin !== 'native'
      const brought = plugins.filter(isOwn)
      fill(own, brought, selected)
      const none = own.nextElementSibling
      if (none instanceof HTMLElement) none.hidden = plugins.length === 0 || brought.length > 0
      if (!isLookedAt && plugins.length > 0) {
        isLookedAt = true
        if (brought.length === 0) count.closest('details')?.setAttribute('open', '')
      }
      const others = plugins.filter((plugin) => !isOwn(plugin))
      fill(builtIn, others, selected)
      count.textContent = `built-in plugins (${others.length})`
    },
  }
}

function focusedKey(element: HTMLElement): string | undefined {
  const { activeElement } = document
  return activeElement instanceof HTMLElement && element.contains(activeElement) ? activeElement.dataset['key'] : undefined
}
