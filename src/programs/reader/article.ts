/** A page as an article in Markdown: what it says, without what surrounds it. */
import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import TurndownService from 'turndown'

export interface Article {
  /** '' when it names none. */
  readonly title: string
  readonly markdown: string
  /** `page`: nothing of it looked like an article, so it is there whole. */
  readonly kind: 'article' | 'page'
}

const LEFT_OUT = 'title, script, style, noscript, template, svg, iframe, object, embed, link, meta'
/** An article of fewer characters is not what the page is about. */
const SHORTEST = 140

/** `address` is what links are relative to. Throws for pages the libraries are not made for. */
export function articleOf(html: string, address: string): Article {
  const own = new Readability(parseHTML(framed(html)).document, { charThreshold: SHORTEST }).parse()
  const article = (own?.textContent ?? '').trim().length >= SHORTEST ? own?.content : undefined
  const { document } = parseHTML(framed(article ?? html))
  for (const element of document.querySelectorAll(LEFT_OUT)) element.remove()
  makeAbsolute(document, address)
  const markdown = turndown()
    .turndown(document.querySelector('body') ?? document.documentElement)
    .trim()
  return { title: (own?.title ?? '').trim(), markdown, kind: article === undefined || article === null ? 'page' : 'article' }
}

/** The library builds no body that is not written. */
function framed(html: string): string {
  return /<body[\s>]/i.test(html) ? html : `<!doctype html><html><head></head><body>${html}</body></html>`
}

function turndown(): TurndownService {
  return new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', emDelimiter: '*' })
}

/** Links that lead somewhere else over the web; the text of every other one stays, without it. */
function makeAbsolute(document: Document, address: string): void {
  for (const [selector, name] of [
    ['a[href]', 'href'],
    ['img[src]', 'src'],
  ] as const)
    for (const element of document.querySelectorAll(selector)) {
      const target = element.getAttribute(name) ?? ''
      const url = URL.canParse(target, address) ? new URL(target, address) : undefined
      if (url !== undefined && /^(?:https?|mailto):$/.test(url.protocol)) element.setAttribute(name, url.href)
      else element.removeAttribute(name)
    }
}
