import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { anvilBinary } from './binaries.js';
import { readJson, writeJson, writePrivately } from './files.js';
import { freePort, runsIn, startDaemon, stopProcess, until } from './processes.js';
import { SandboxError } from './sandbox-error.js';
import type { Server } from './supervisor.js';

/** The mnemonic of every dev chain. Its accounts hold test money only. */
export const DEV_MNEMONIC = 'test test test test test test test test test test test junk';

export interface ChainOptions {
  /** The folder of the chain, with pid file, log and state; created when missing. */
  readonly dir: string;
  readonly chainId: number;
}

/**
 * The origin of the chain. A `restored` chain has the state that an earlier run saved. An `adopted` chain
 * continued after its service was killed.
 */
export type ChainOrigin = 'created' | 'restored' | 'adopted';

export interface RunningChain extends Server {
  readonly rpcUrl: string;
  readonly origin: ChainOrigin;
  /** Saves the state to disk if there are new blocks. Returns true if it saved the state. */
  save(): Promise<boolean>;
}

interface ChainFile {
  readonly pid: number;
  readonly port: number;
}

/**
 * Starts the dev chain of `dir` (anvil: a block per transaction), or adopts the one that still runs there.
 * The chain lives in memory; {@link RunningChain.save} keeps its state for the next start.
 */
export async function startChain(options: ChainOptions): Promise<RunningChain> {
  mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  const file = join(options.dir, 'chain.json');
  const last = readJson<ChainFile>(file);
  if (last !== null && runsIn(last.pid, options.dir)) {
    if (await responds(last.port, options.chainId)) return handle(options.dir, last, 'adopted');
    await stopAnvil(last.pid);
  }
  const restored = existsSync(stateFile(options.dir));
  const started = await launch(options, last?.port);
  writeJson(file, started);
  return handle(options.dir, started, restored ? 'restored' : 'created');
}

async function launch(options: ChainOptions, lastPort: number | undefined): Promise<ChainFile> {
  const state = stateFile(options.dir);
  const log = join(options.dir, 'anvil.log');
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort(attempt === 1 ? lastPort : null);
    const daemon = startDaemon({
      command: anvilBinary(),
      args: [
        '--host',
        '127.0.0.1',
        '--port',
        String(port),
        '--chain-id',
        String(options.chainId),
        '--mnemonic',
        DEV_MNEMONIC,
        '--order',
        'fifo',
        '--silent',
        ...(existsSync(state) ? ['--load-state', state] : []),
      ],
      cwd: options.dir,
      logFile: log,
      env: { PATH: process.env['PATH'], HOME: options.dir },
    });
    await until(async () => daemon.exited() !== null || (await responds(port, options.chainId)), 30_000);
    if (daemon.exited() === null && (await responds(port, options.chainId))) return { pid: daemon.pid, port };
    await stopAnvil(daemon.pid);
    if (attempt === 5) {
      throw new SandboxError(`The dev chain did not start (${daemon.exited() ?? 'no response'}): see ${log}`);
    }
  }
}

function handle(dir: string, { pid, port }: ChainFile, origin: ChainOrigin): RunningChain {
  const rpcUrl = `http://127.0.0.1:${port}`;
  let saved: unknown = null;
  const dump = async (): Promise<void> => {
    const state = (await rpc(rpcUrl, 'anvil_dumpState', [])) as string;
    writePrivately(stateFile(dir), gunzipSync(Buffer.from(state.slice(2), 'hex')));
  };
  const save = async (): Promise<boolean> => {
    const head = await rpc(rpcUrl, 'eth_blockNumber', []);
    if (head === saved) return false;
    return dump().then(() => {
      saved = head;
      return true;
    });
  };
  return {
    rpcUrl,
    pid,
    port,
    origin,
    save,
    stop: async () => {
      if (!runsIn(pid, dir)) return;
      await save();
      await stopAnvil(pid);
    },
  };
}

function stopAnvil(pid: number): Promise<void> {
  return stopProcess(pid, [
    ['SIGTERM', 5000],
    ['SIGKILL', 2000],
  ]);
}

function stateFile(dir: string): string {
  return join(dir, 'state.json');
}

async function responds(port: number, chainId: number): Promise<boolean> {
  try {
    return Number(await rpc(`http://127.0.0.1:${port}`, 'eth_chainId', [])) === chainId;
  } catch {
    return false;
  }
}

/** Sends one JSON-RPC call. Rejects with the node's error message. */
export async function rpc(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(10_000),
  });
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}
