/**
 * What keys do on the screen: most of them change what is typed; the rest is sent, completed, interrupted, left.
 *
 * I1 What was being typed when something is asked waits until that is answered: nothing answers by accident.
 * I2 Ctrl-C takes away what is typed; only where nothing is typed it is an interrupt.
 */
import { existsSync } from 'node:fs'
import { basename, extname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { completed, type Offers, offersFor, type Sources } from './input/completion.js'
import { change, cleared, createEditor, type Editor, givenBack, isEmpty, paste, press, sent, textOf, type } from './input/editor.js'
import type { Input } from './input/keys.js'
import type { Conversation } from './talk/conversation.js'

export interface Typing {
  readonly editor: Editor
  readonly offers: readonly string[]
  press(input: Input): void
  giveBack(texts: readonly string[]): void
  /** More is known of what may follow than when it was typed. */
  learn(): void
  /** What is asked now. */
  see(question: string | undefined): void
}

export interface TypingOptions {
  readonly conversation: Conversation
  readonly sources: Sources
  readonly history: readonly string[]
  readonly keep: (history: readonly string[]) => void
  /** An image of the clipboard, as a file; undefined where there is none. */
  readonly pasteImage: () => Promise<string | undefined>
  readonly repaint: () => void
  readonly onChange: () => void
}

const IMAGE = /^\.(?:png|jpe?g|gif|webp|bmp)$/i

export function createTyping(options: TypingOptions): Typing {
  const { conversation, sources } = options
  let editor = createEditor(options.history)
  let offers: Offers | undefined
  let asked: string | undefined
  /** I1 */
  let aside: Editor | undefined
  let images: readonly string[] = []

  function set(next: Editor): void {
    editor = next
    offers = editor.search === undefined && asked === undefined ? offersFor(editor.draft, sources) : undefined
  }

  function submit(): void {
    const text = textOf(editor)
    if (asked !== undefined) {
      conversation.requests.answer(text.trim())
      return set(cleared(editor))
    }
    if (text.endsWith('\\') && editor.draft.cursor === editor.draft.text.length)
      return set(type(press(editor, 'backspace') ?? editor, '\n'))
    if (text.trim() === '') return
    const named = images.filter((path, index) => text.includes(imageMark(index + 1, path)))
    set(sent(editor))
    images = []
    options.keep(editor.history)
    conversation.say({ text, images: named })
  }

  function attach(path: string): void {
    images = [...images, path]
    set(type(editor, imageMark(images.length, path)))
  }

  function key(name: string): void {
    switch (name) {
      case 'ctrl-c':
        if (editor.search !== undefined) return set(press(editor, name) ?? editor)
        return isEmpty(editor) ? conversation.interrupt() : set(cleared(editor)) // I2
      case 'ctrl-d':
        return isEmpty(editor) ? conversation.leave() : set(press(editor, name) ?? editor)
      case 'ctrl-l':
        return options.repaint()
      case 'ctrl-v':
        void options.pasteImage().then((path) => {
          if (path === undefined) conversation.note('there is no image in the clipboard, or nothing here that reads it')
          else attach(path)
          options.onChange()
        })
        return
      case 'enter':
        if (editor.search === undefined) return submit()
        return set(press(editor, name) ?? editor)
      case 'tab':
        return offers === undefined ? undefined : set(change(editor, completed(editor.draft, offers)))
      case 'escape':
        if (editor.search !== undefined) return set(press(editor, name) ?? editor)
        offers = undefined
        return
      default:
        return set(press(editor, name) ?? editor)
    }
  }

  return {
    get editor() {
      return editor
    },
    get offers() {
      return offers?.items ?? []
    },
    press(input) {
      if (input.type !== 'key' || input.key !== 'ctrl-c') conversation.typed()
      if (input.type === 'key') key(input.key)
      else if (input.type === 'text') set(type(editor, input.text))
      else {
        const path = imageIn(input.text, conversation.directory)
        if (path === undefined) set(paste(editor, input.text))
        else attach(path)
      }
    },
    giveBack: (texts) => (aside === undefined ? set(givenBack(editor, texts)) : void (aside = givenBack(aside, texts))),
    learn: () => set(editor),
    see(question) {
      if (question === asked) return
      const wasAsked = asked !== undefined
      asked = question
      if (question !== undefined && !wasAsked) {
        aside = editor
        set(createEditor(editor.history))
      } else if (question === undefined && aside !== undefined) {
        set(aside)
        aside = undefined
      } else set(cleared(editor))
    },
  }
}

function imageMark(number: number, path: string): string {
  return `[image ${number}: ${basename(path)}]`
}

/** Terminals paste the path of a file that is dropped on them. */
function imageIn(pasted: string, directory: string): string | undefined {
  const text = pasted.trim().replace(/^(['"])(.*)\1$/, '$2')
  if (text.includes('\n') || !IMAGE.test(extname(text))) return undefined
  const path = text.startsWith('file://') && URL.canParse(text) ? fileURLToPath(text) : resolve(directory, text.replaceAll(/\\(.)/g, '$1'))
  return existsSync(path) ? path : undefined
}
