import type { Agent } from 'undici';

export interface Node {
  readonly name: string;
  /** Its logs, and its data. */
  readonly dir: string;
  /** Of its HTTP interface. */
  readonly url: string;
  readonly address: string;
  readonly host: string;
  readonly dispatcher: Agent;
  readonly gid: number | undefined;
  readonly args: readonly string[];
}

export type ServerCommand = readonly [file: string, args: readonly string[]];

export declare function serverCommand(given?: string): ServerCommand;
export declare function nodesOf(cluster: {
  readonly size?: number;
  readonly port?: number;
  readonly dir: string;
  readonly inMemory?: boolean;
  readonly hosts?: readonly string[];
  readonly tls?: {
    /** Of the server. */
    readonly args: readonly string[];
    /** Certificate of the authority, as PEM. */
    readonly ca: string;
  };
  readonly firstGid?: number | null;
}): readonly Node[];
export declare function addressOf(nodes: readonly Node[]): string;
export declare function stateOf(node: Pick<Node, 'url' | 'dispatcher'>): Promise<string | null>;
export declare function untilLed(nodes: readonly Node[], timeoutMs?: number): Promise<Node>;

export declare class SupervisedNode {
  readonly node: Node;
  readonly pid: number;
  constructor(node: Node, command: ServerCommand);
  start(): this;
  stop(): void;
}
