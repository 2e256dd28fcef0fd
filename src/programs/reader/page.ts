/** What a model gets of a page. Pure. */
import { LIMITS } from '../../protocol/limits.js'
import type { PageRequest, ReadPage } from '../../protocol/web/page.js'
import { articleOf } from './article.js'
import { measure } from './measure.js'
import { plainText } from './plain-text.js'

const { article, rendered, title: TITLE } = LIMITS.web

export function readPage({ address, as }: PageRequest, html: string): ReadPage {
  const made = as === 'article' ? asArticle(html, address) : undefined
  const { title, text, kind } = made ?? { ...plainText(html), kind: 'text' as const }
  const kept = wellFormed(text.slice(0, rendered))
  return { title: wellFormed(title.slice(0, TITLE)), text: kept, kind, cut: kept.length < text.length }
}

/** Undefined for a page of a size or a depth that would take the libraries seconds, or that they break on. */
function asArticle(html: string, address: string): { title: string; text: string; kind: 'article' | 'page' } | undefined {
  if (html.length > article.characters) return undefined
  const { tags, depth } = measure(html)
  if (tags > article.tags || depth > article.depth) return undefined
  try {
    const { title, markdown, kind } = articleOf(html, address)
    return markdown === '' ? undefined : { title: title || plainText(html).title, text: markdown, kind }
  } catch {
    return undefined
  }
}

/** No half of a character at the end. */
function wellFormed(text: string): string {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text
}
