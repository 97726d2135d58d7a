// Ends connections of a test run that leave this machine, and notes them where the run looks. Node loads it first in
// every process that inherits NODE_OPTIONS: those of suites and those that they start. It changes nothing else.
const { appendFileSync } = require('node:fs')
const net = require('node:net')
const { errno } = require('node:os').constants

const local = /^(127\.|::1$|::ffff:127\.|0\.0\.0\.0$|::$)/
const connect = net.Socket.prototype.connect

net.Socket.prototype.connect = function (...given) {
  // With the address, after any lookup.
  this.on('connectionAttempt', address => {
    // Sockets of files have no such address.
    if (net.isIP(address) === 0 || local.test(address)) return
    const note = `${address} from ${process.argv.slice(1, 3).join(' ')}`
    if (process.env.ALMANAC_TESTS_CONNECTIONS !== undefined)
      appendFileSync(process.env.ALMANAC_TESTS_CONNECTIONS, `${note}\n`)
    // The attempt that follows fails as without a network, and nothing is sent.
    this._handle.connect = this._handle.connect6 = () => -errno.ENETUNREACH
  })
  return Reflect.apply(connect, this, given)
}
