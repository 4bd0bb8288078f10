import { createSocket } from 'node:dgram';
import { createServer, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

const TYPES = { A: 1, CNAME: 5, AAAA: 28 } as const;
export type RecordType = 'A' | 'AAAA';

/** One record: the owner is the requested name unless it is given. */
export interface DnsRecord {
  readonly type: keyof typeof TYPES;
  readonly data: string;
  readonly owner?: string;
}

/** The response; null: none. */
export type DnsResponse = readonly DnsRecord[] | 'SERVFAIL' | 'NXDOMAIN' | null;

const CODES = { SERVFAIL: 2, NXDOMAIN: 3 };
/** What fits a datagram without EDNS; a longer response is cut off there, and the client repeats it over TCP. */
const MAX_DATAGRAM = 512;

/** Responds to a question; `nth` counts the questions for this name and type from 0. */
export type Zone = (name: string, type: RecordType, nth: number) => DnsResponse;

/** A DNS server on 127.0.0.1:53, of UDP and TCP, that responds by its zone, always with a time to live of 0. */
export class TestDnsServer {
  /** How often each "name type" was requested. */
  readonly requests = new Map<string, number>();

  private constructor(private readonly zone: Zone) {}

  static async start(zone: Zone): Promise<TestDnsServer> {
    const dns = new TestDnsServer(zone);
    const udp = createSocket('udp4');
    udp.on('message', (query, from) => {
      const response = dns.respond(query, false);
      if (response) udp.send(response, from.port, from.address);
    });
    const tcp = createServer((socket) => dns.serve(socket));
    await Promise.all([
      new Promise<void>((resolve) => udp.bind(53, '127.0.0.1', resolve)),
      new Promise<void>((resolve) => tcp.listen(53, '127.0.0.1', resolve)),
    ]);
    return dns;
  }

  /** Each message has its length before it. */
  private serve(socket: Socket): void {
    let read = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      read = Buffer.concat([read, chunk]);
      while (read.length > 2 && read.length >= 2 + read.readUInt16BE(0)) {
        const end = 2 + read.readUInt16BE(0);
        const response = this.respond(read.subarray(2, end), true);
        read = read.subarray(end);
        if (response) socket.write(Buffer.concat([uint16(response.length), response]));
      }
    });
  }

  private respond(query: Buffer, overTcp: boolean): Buffer | null {
    const { name, end } = nameAt(query, 12);
    const type = query.readUInt16BE(end) === TYPES.A ? 'A' : 'AAAA';
    const key = `${name} ${type}`;
    const nth = this.requests.get(key) ?? 0;
    const response = this.zone(name, type, nth);
    const records = typeof response === 'string' || response === null ? [] : response.map(encoded);
    const cut = !overTcp && Buffer.concat(records).length > MAX_DATAGRAM - (end + 4);
    // The same question over TCP is not a second one.
    if (!cut) this.requests.set(key, nth + 1);
    if (response === null) return null;
    const flags = 0x8180 | (cut ? 0x0200 : 0) | (typeof response === 'string' ? CODES[response] : 0);
    const counts = [1, cut ? 0 : records.length, 0, 0].map(uint16);
    const head = [query.subarray(0, 2), uint16(flags), ...counts, query.subarray(12, end + 4)];
    return Buffer.concat([...head, ...(cut ? [] : records)]);
  }
}

function encoded({ type, data, owner }: DnsRecord): Buffer {
  const value = type === 'CNAME' ? encodedName(data) : Buffer.from(ipaddr.parse(data).toByteArray());
  const from = owner === undefined ? uint16(0xc00c) : encodedName(owner);
  const fields = [TYPES[type], 1, 0, 0, value.length].map(uint16);
  return Buffer.concat([from, ...fields, value]);
}

function encodedName(name: string): Buffer {
  const labels = name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]);
  return Buffer.concat([...labels, Buffer.from([0])]);
}

/** The name of a question, which is never compressed, in lower case; and where it ends. */
function nameAt(message: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = [];
  let place = start;
  for (let length = message[place]!; length > 0; length = message[place]!) {
    labels.push(message.toString('latin1', place + 1, place + 1 + length).toLowerCase());
    place += 1 + length;
  }
  return { name: labels.join('.'), end: place + 1 };
}

function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 255]);
}
