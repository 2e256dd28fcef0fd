/** Keys that work everywhere but in fields. */
import { byId } from './elements.js'
import type { Screen } from './screen/screen.js'

export function bindKeys(screen: Screen): void {
  const press = (id: string) => () => byId(id).click()
  const keys: Readonly<Record<string, () => void>> = {
    '1': () => screen.tab('actors'),
    '2': () => screen.tab('plugins'),
    '3': () => screen.tab('workflows'),
    '4': () => screen.tab('sessions'),
    '5': () => screen.tab('programs'),
    '6': () => screen.tab('requests'),
    p: press('pause'),
    '[': press('back'),
    ']': press('forward'),
    '{': press('mark-back'),
    '}': press('mark-forward'),
    s: press('save'),
    o: press('load'),
    t: press('theme'),
    j: press('timeline'),
    '-': press('smaller'),
    '+': press('larger'),
    '=': press('larger'),
    '0': press('fit'),
    f: press('whole'),
    q: press('sequence-on'),
    x: () => screen.toggleLane(),
    '/': () => {
      screen.tab('actors')
      byId('filter').focus()
    },
  }
  document.addEventListener('keydown', (event) => {
    const isField = event.target instanceof HTMLInputElement && event.target.type !== 'checkbox'
    if (event.key === 'Escape' && isField) byId('tree').focus()
    if (isField || document.querySelector('dialog[open]') !== null || event.ctrlKey || event.metaKey || event.altKey) return
    const act = keys[event.key]
    if (act === undefined) return
    event.preventDefault()
    act()
  })
}
