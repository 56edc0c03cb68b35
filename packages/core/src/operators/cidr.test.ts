import { describe, expect, it } from 'vitest'
import { isInNetwork, NetworkSet, parseAddress, parseNetwork } from './cidr.ts'

function isIn(address: string, network: string): boolean | undefined {
  const [left, right] = [parseAddress(address), parseNetwork(network)]
  return left && right && isInNetwork(left, right)
}

describe('parseAddress', () => {
  it.each([
    ['0.0.0.0', [0]],
    ['10.1.2.3', [0x0a010203]],
    ['255.255.255.255', [-1]],
    ['::', [0, 0, 0, 0]],
    ['::1', [0, 0, 0, 1]],
    ['1::', [0x10000, 0, 0, 0]],
    ['2001:DB8::ff', [0x20010db8, 0, 0, 0xff]],
    ['1:2:3:4:5:6:7:8', [0x10002, 0x30004, 0x50006, 0x70008]],
    ['1:2:3:4:5:6:7::', [0x10002, 0x30004, 0x50006, 0x70000]],
    ['64:ff9b::10.1.2.3', [0x64ff9b, 0, 0, 0x0a010203]],
    ['1:2:3:4:5:6:10.1.2.3', [0x10002, 0x30004, 0x50006, 0x0a010203]],
    ['::ffff:10.1.2.3', [0x0a010203]],
    ['1::ffff:10.1.2.3', [0x10000, 0, 0xffff, 0x0a010203]],
    ['0:0:0:1:0:ffff:10.1.2.3', [0, 1, 0xffff, 0x0a010203]],
    ['::FFFF:a01:203', [0x0a010203]],
    ['0000:0000:0000:0000:0000:ffff:255.255.255.255', [-1]],
  ])('parseAddress parses %s', (text, words) => {
    expect(parseAddress(text)).toEqual(words)
  })

  it.each([
    ...['', ' 10.0.0.1', '10.0.0.1 ', '10.0.0', '10.0.0.0.1', '10.0.0.256', '10.0.0.01', '10.0.0.'],
    ...['10.0.0.-1', '10.0.0.1e0', '0x0a.0.0.1', '167772161', '10.0.0.0/8', '10.0.0.1:80'],
    ...[
      ':',
      ':::',
      '1::2::3',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      '1:2:3:4:5:6:7:8::',
      '12345::',
    ],
    ...['::g', ':1', '1:', '1::2:', '::1%eth0', '[::1]', '10.0.0.1::', '::10.0.0.1:1', '::1.2.3'],
    ...['1:2:3:4:5:6:7:10.0.0.1', '::10.0.0.256', `${'0'.repeat(60)}::1`, '٠.0.0.0'],
    ...[
      '10x0.0.1',
      '10.0.0x1',
      ':1:2:3:4:5:6:7',
      '1x2:3:4:5:6:7:8',
      '1:2:3:4:5:6:7:8:9',
      '1::2:3:4:5:6:7:8',
    ],
  ])('parseAddress refuses %j', (text) => {
    expect(parseAddress(text)).toBeUndefined()
  })
})

describe('parseNetwork', () => {
  it.each([
    ...['10.0.0.0/33', '10.0.0.0/', '10.0.0.0/08', '10.0.0.0/-1', '10.0.0.0/8/8', '/8', '10/8'],
    ...['::/129', '::/ 1', '::/1e1', 'localhost', ''],
  ])('parseNetwork refuses %j', (text) => {
    expect(parseNetwork(text)).toBeUndefined()
  })
})

describe('isInNetwork', () => {
  it.each([
    ['10.255.0.1', '10.0.0.0/8', true],
    ['11.0.0.0', '10.0.0.0/8', false],
    ['10.255.0.1', '10.9.9.9/8', true],
    ['192.168.1.127', '192.168.1.0/25', true],
    ['192.168.1.128', '192.168.1.0/25', false],
    ['200.0.0.1', '0.0.0.0/0', true],
    ['200.0.0.1', '128.0.0.0/1', true],
    ['127.0.0.1', '128.0.0.0/1', false],
    ['10.0.0.1', '10.0.0.1', true],
    ['10.0.0.2', '10.0.0.1', false],
    ['10.0.0.2', '10.0.0.1/32', false],
    ['2001:db8:1::', '2001:db8::/32', true],
    ['2001:db9::', '2001:db8::/32', false],
    ['2001:db8::7fff', '2001:db8::/113', true],
    ['2001:db8::8000', '2001:db8::/113', false],
    ['ffff::1', '::/0', true],
    ['::2', '::1', false],
    ['::ffff:10.1.1.1', '10.0.0.0/8', true],
    ['10.1.1.1', '::ffff:10.0.0.0/104', true],
    ['11.1.1.1', '::ffff:10.0.0.0/104', false],
    ['11.1.1.1', '::ffff:0:0/96', true],
    ['10.1.1.1', '::/0', false],
    ['::ffff:10.1.1.1', '::ffff:0:0/95', false],
    ['::1', '0.0.0.0/0', false],
    ['::fffe:1:1', '::ffff:0:0/95', true],
  ])('The address %s is in the network %s: %j', (address, network, expected) => {
    expect(isIn(address, network)).toBe(expected)
  })
})

describe('NetworkSet', () => {
  const texts = [
    ...['10.1.0.0/16', '192.168.1.0/25', '10.0.0.0/8', '10.0.0.0/16', '172.16.0.7', '200.0.0.0/7'],
    ...['2001:db8::/32', '2001:db8:1::/48', '::1', 'fe80::/10', '::ffff:9.0.0.0/104', '10.0.0.0/8'],
  ]
  const addresses = [
    ...['9.1.2.3', '10.0.0.0', '10.1.2.3', '10.255.255.255', '11.0.0.0', '172.16.0.6'],
    ...[
      '172.16.0.7',
      '192.168.1.127',
      '192.168.1.128',
      '199.255.255.255',
      '201.1.1.1',
      '202.0.0.0',
    ],
    ...['::', '::1', '::2', '2001:db7::', '2001:db8::', '2001:db8:2::7', '2001:db9::', 'fe80::1'],
    ...['febf::1', 'fec0::', 'ffff::'],
  ]

  it('NetworkSet contains exactly the addresses of its networks, in any order of the networks', () => {
    const networks = texts.flatMap((text) => parseNetwork(text) ?? [])
    const words = addresses.flatMap((text) => [parseAddress(text) ?? []])
    for (let first = 0; first < networks.length; first += 1) {
      const turned = [...networks.slice(first), ...networks.slice(0, first)]
      for (const list of [turned, turned.toReversed(), turned.slice(0, 3), turned.slice(0, 1)]) {
        const set = new NetworkSet(list)
        const expected = words.map((address) => list.some((each) => isInNetwork(address, each)))
        expect(words.map((address) => set.has(address))).toEqual(expected)
      }
    }
    expect(new NetworkSet([]).has([0])).toBe(false)
  })
})
