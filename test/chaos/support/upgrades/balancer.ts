import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { eventually } from '../../../../bench/support/wait.js';
import { freePort } from '../../../../sandbox/processes.js';
import { Haproxy } from '../haproxy.js';

const CHECK_EVERY_MS = 250;

/** A process that serves while `/health/ready` is 200 and it is not drained. */
export interface Backend {
  readonly name: string;
  readonly port: number;
}

/** haproxy in front of processes with `ROLES=api`, as an Ingress or a load balancer. */
export class Balancer {
  private constructor(
    readonly port: number,
    private readonly socket: string,
    private readonly haproxy: Haproxy,
  ) {}

  static async start(dir: string, backends: readonly Backend[]): Promise<Balancer> {
    mkdirSync(dir);
    const port = await freePort();
    const socket = join(dir, 'admin.sock');
    const config = configuration(port, socket, backends);
    const isUp = (): Promise<boolean> =>
      runtime(socket, 'show info').then(
        () => true,
        () => false,
      );
    return new Balancer(port, socket, await Haproxy.start(dir, config, isUp));
  }

  /** Routes new requests to others; requests in flight end where they are. */
  async drain({ name }: Backend): Promise<void> {
    await runtime(this.socket, `set server api/${name} state drain`);
  }

  async admit({ name }: Backend): Promise<void> {
    await runtime(this.socket, `set server api/${name} state ready`);
    await eventually(`${name} gets requests`, async () => {
      const rows = (await runtime(this.socket, 'show stat')).split('\n').map((row) => row.split(','));
      return rows.some(
        ([proxy, server, ...rest]) => proxy === 'api' && server === name && rest.includes('UP'),
      );
    });
  }

  async stop(): Promise<void> {
    await this.haproxy.stop();
  }
}

async function runtime(socket: string, command: string): Promise<string> {
  const connection = connect(socket);
  connection.write(`${command}\n`);
  return text(connection);
}

function configuration(port: number, socket: string, backends: readonly Backend[]): string {
  const servers = backends.map(({ name, port: at }) => `server ${name} 127.0.0.1:${at} check`);
  return `global
  stats socket ${socket} mode 600 level admin
defaults
  mode http
  timeout connect 2s
  timeout check 5s
  timeout client 1h
  timeout server 1m
  retries 3
  option redispatch
listen api
  bind 127.0.0.1:${port}
  option httpchk GET /health/ready
  default-server inter ${CHECK_EVERY_MS}ms fall 2 rise 2
  ${servers.join('\n  ')}
`;
}
