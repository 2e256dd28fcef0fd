/**
 * What packages do when they are loaded, or when a route is declared, and what a start does not need: the build moves it to where it is first
 * asked for. Each change is an exact text of the package; one that is not found fails the build.
 */
import { readFileSync } from 'node:fs'

/** By the end of the path: each text, and what stands in its place. */
const CHANGED = {
  // What measures the width of text, until something other than plain text is measured.
  'string-width/index.js': [
    ['const segmenter = new Intl.Segmenter();', 'let its_segmenter; const segmenter = () => (its_segmenter ??= new Intl.Segmenter());'],
    // A pattern is looked at when it is parsed, too.
    [
      'const rgiEmojiRegex = /^\\p{RGI_Emoji}$/v;',
      "let its_emoji; const rgiEmojiRegex = () => (its_emoji ??= new RegExp('^\\\\p{RGI_Emoji}$', 'v'));",
    ],
    ['segmenter.', 'segmenter().'],
    ['rgiEmojiRegex.', 'rgiEmojiRegex().'],
  ],
  // Three functions from text for each route, until a request comes by; the one that compares constraints is for none of ours.
  'find-my-way/lib/node.js': [
    [
      "return new Function('path', 'i', `'use strict'\\nreturn ${lines.join(' && ')}`) // eslint-disable-line",
      'return (path, i) => path.startsWith(prefix, i)',
    ],
  ],
  'find-my-way/lib/handler-storage.js': [
    [
      '_compileCreateParamsObject (params) {',
      `_compileCreateParamsObject (params) {
    let made
    return (p0, p1, p2, p3, more) => (made ??= this._compileParamsNow(params))(p0, p1, p2, p3, more)
  }

  _compileParamsNow (params) {`,
    ],
    [
      '_compileGetHandlerMatchingConstraints (constrainer) {',
      `_compileGetHandlerMatchingConstraints (constrainer) {
    this._getHandlerMatchingConstraints = (derived) => {
      this._compileConstraintsNow(constrainer)
      return this._getHandlerMatchingConstraints(derived)
    }
  }

  _compileConstraintsNow (constrainer) {`,
    ],
  ],
  // A server of HTTP/2, which is none of ours.
  'fastify/lib/server.js': [
    ["const http2 = require('node:http2')\n", ''],
    ['http2.createSecureServer(', "require('node:http2').createSecureServer("],
    ['http2.createServer(', "require('node:http2').createServer("],
  ],
  // Whether a plugin of Fastify fits: both are named exactly by our lock file.
  'fastify/lib/plugin-utils.js': [
    ["const semver = require('semver')\n", ''],
    ['if (meta?.fastify == null) return', 'return'],
  ],
}

/** For esbuild. */
export const LATER = {
  name: 'later',
  setup(bundle) {
    const names = Object.keys(CHANGED).map((name) => name.replaceAll(/[.]/g, '\\.').replaceAll('/', '[\\\\/]'))
    bundle.onLoad({ filter: new RegExp(`[\\\\/]node_modules[\\\\/](?:${names.join('|')})$`) }, ({ path }) => {
      const name = Object.keys(CHANGED).find((each) => path.replaceAll('\\', '/').endsWith(`/${each}`))
      return { contents: changed(readFileSync(path, 'utf8'), CHANGED[name], path) }
    })
  },
}

function changed(text, changes, path) {
  return changes.reduce((now, [before, after]) => {
    if (!now.includes(before)) throw new Error(`${path} is not what the build was made for: ${before}`)
    return now.replaceAll(before, () => after)
  }, text)
}
