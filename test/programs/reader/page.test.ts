import { describe, expect, it } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import { measure } from '../../../src/programs/reader/measure.js'
import { readPage } from '../../../src/programs/reader/page.js'

const AT = 'https://docs.example/guide/start'
const PROSE = 'Actors own their state, and nobody else writes to it, which is why a crash of one harms no other. '.repeat(4)
const PAGE = `<!doctype html><html><head><title>Actors &amp; state</title><style>p{}</style></head><body>
  <nav><a href="/">Home</a></nav>
  <article><h1>Actors</h1><p>${PROSE}</p><h2>Rules</h2><ul><li>One <b>owner</b></li><li><a href="../rules#one">All rules</a></li></ul>
  <pre><code>const a = 1 &lt; 2</code></pre><p><a href="javascript:alert(1)">Click</a> ${PROSE}</p><script>evil()</script></article></body></html>`

describe('a page as an article', () => {
  const { title, text, kind, cut } = readPage({ address: AT, as: 'article' }, PAGE)

  it('is Markdown with whole addresses, and without what surrounds it', () => {
    expect([title, kind, cut]).toEqual(['Actors & state', 'article', false])
    expect(text).toContain('## Rules')
    expect(text).toContain('[All rules](https://docs.example/rules#one)')
    expect(text).toContain('**owner**')
    expect(text).toContain('```\nconst a = 1 < 2\n```')
    expect(text).not.toMatch(/javascript|evil|p\{\}/)
  })

  it('is the whole page where nothing looks like an article', () => {
    const page = readPage({ address: AT, as: 'article' }, '<title>T</title><p>Short &eacute; <a href="x">link</a></p>')
    expect(page).toEqual({ title: 'T', text: 'Short é [link](https://docs.example/guide/x)', kind: 'page', cut: false })
  })
})

it('the text of a page is its words, a line for each block', () => {
  const page = readPage({ address: AT, as: 'text' }, PAGE)
  expect([page.title, page.kind]).toEqual(['Actors & state', 'text'])
  expect(page.text.split('\n').slice(0, 2)).toEqual(['Home', 'Actors'])
  expect(page.text).toContain('One owner\nAll rules')
  expect(page.text).not.toMatch(/evil|p\{\}/)
})

describe('a page that is made to be hard', () => {
  it.each([
    ['divs in divs', '<div>'.repeat(100_000) + 'in'],
    ['open paragraphs', '<p>in'.repeat(200_000)],
    ['ends that end nothing', `${'<b>'.repeat(50_000)}in${'</i>'.repeat(50_000)}`],
    ['a title without end', `in<title>${'x'.repeat(100_000)}`],
    ['a comment without end', `in<!--${'-'.repeat(2_000_000)}`],
    ['attributes without end', `in<a ${'b=c '.repeat(300_000)}`],
    ['opening brackets', `in${'<'.repeat(1_000_000)}`],
    ['entities', '&amp;'.repeat(200_000)],
    ['scripts in scripts', `in${'<script>'.repeat(100_000)}`],
    ['tables in tables', `${'<table><tr><td>'.repeat(30_000)}in`],
    ['links in links', `in${'<a href=x>'.repeat(30_000)}`],
  ])('%s: is its text, bounded', (_what, html) => {
    const { text, title } = readPage({ address: AT, as: 'article' }, html)
    expect([text !== '', text.length <= LIMITS.web.rendered, title.length <= LIMITS.web.title]).toEqual([true, true, true])
  })

  it.each(['<div>'.repeat(500), '<p>x'.repeat(30_000), 'x'.repeat(1_000_001)])('too deep, too many tags, too long: is its text', (html) =>
    expect(readPage({ address: AT, as: 'article' }, `${html}in`).kind).toBe('text'),
  )

  it('counts tags and what is open', () => {
    expect(measure('<div><p>a<p>b<img><b>c</b></div>')).toEqual({ tags: 7, depth: 2 })
    expect(measure('<x>'.repeat(1000)).depth).toBe(1000)
  })

  it('loses no half of a character at the cut', () => {
    const { text, cut } = readPage({ address: AT, as: 'text' }, `a${'😀'.repeat(LIMITS.web.rendered)}`)
    expect(cut).toBe(true)
    expect(text.isWellFormed?.() ?? true).toBe(true)
  })
})
