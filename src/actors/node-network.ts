/** What we use of the network library, in a module of our own: a bundle keeps the names of a CommonJS package only when they are imported statically. */
export { Agent, fetch } from 'undici'
