import { mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { LoggerService, OnApplicationShutdown } from '@nestjs/common';
import pino from 'pino';
import type { TelemetryConfig } from '../config/config.js';
import { redact, redactText } from './redaction.js';

type LogFields = Readonly<Record<string, unknown>>;

type Level = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** The size and the age at which buffered lines are written. */
const BUFFER_BYTES = 65_536;
const FLUSH_MS = 250;
/** The length of wide lines that are buffered in one write, because each write measures the whole buffer. */
const PIECE = 8192;

/**
 * The log of JSON lines behind Nest's `Logger`. `kill -9` may lose the lines of the last quarter of a second.
 * Secrets and personal data are redacted by name and by form, except in wide lines.
 */
export class Log implements LoggerService, OnApplicationShutdown {
  readonly log = this.at('info');
  readonly warn = this.at('warn');
  readonly error = this.at('error');
  readonly fatal = this.at('fatal');
  readonly debug = this.at('debug');
  readonly verbose = this.at('debug');

  private readonly free: pino.Logger;
  private readonly timer: NodeJS.Timeout;
  private lines = '';
  private readonly flushAtExit = (): void => {
    this.passOn();
    this.destination.flushSync();
  };

  private constructor(
    private readonly destination: ReturnType<typeof pino.destination>,
    level: string,
  ) {
    const options = { level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime };
    // Redaction converts errors to plain objects, which pino's serializer would not recognize.
    const serializers = { err: (redacted: unknown) => redacted };
    const formatters = { level: (label: string) => ({ level: label }), log: redact };
    this.free = pino({ ...options, formatters, serializers }, destination);
    this.timer = setInterval(() => this.flush(), FLUSH_MS).unref();
    process.once('exit', this.flushAtExit);
  }

  static open(config: TelemetryConfig): Log {
    const fd = config.logFile === null ? 1 : openFile(config.logFile);
    return new Log(
      pino.destination({ fd, sync: false, minLength: BUFFER_BYTES, maxWrite: 2 * BUFFER_BYTES }),
      config.logLevel,
    );
  }

  /** Writes an unredacted line, at a quarter of the cost. Secrets and personal data are forbidden in it. */
  wideLog(message: string, fields: LogFields, level: 'info' | 'warn' | 'error' = 'info'): void {
    if (!this.free.isLevelEnabled(level)) return;
    const head = `"level":"${level}","time":"${new Date().toISOString()}","pid":${process.pid}`;
    const own = JSON.stringify(fields).slice(1, -1);
    this.lines += `{${head},${own}${own === '' ? '' : ','}"msg":${JSON.stringify(message)}}\n`;
    if (this.lines.length > PIECE) this.passOn();
  }

  /** Returns a logging method of Nest. The message is a text, an error or an object with `msg`. */
  private at(level: Level) {
    return (message: unknown, ...rest: unknown[]): void => {
      const context = rest.at(-1);
      const error = message instanceof Error ? message : rest.find((each) => each instanceof Error);
      const stack = rest.find((each) => typeof each === 'string' && each.includes('\n    at '));
      const { text, fields } = toParts(message);
      // Earlier wide lines are written first.
      this.passOn();
      this.free[level](
        {
          ...fields,
          ...(typeof context === 'string' && context !== stack ? { context } : {}),
          ...(error === undefined ? {} : { err: error }),
          ...(stack === undefined ? {} : { stack }),
        },
        redactText(text),
      );
    };
  }

  flush(): void {
    this.passOn();
    this.destination.flush();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
    process.off('exit', this.flushAtExit);
    this.flushAtExit();
  }

  private passOn(): void {
    if (this.lines === '') return;
    this.destination.write(this.lines);
    this.lines = '';
  }
}

/** Opens the file synchronously, so that a process that ends early still writes its log. */
function openFile(path: string): number {
  mkdirSync(dirname(path), { recursive: true });
  return openSync(path, 'a');
}

function toParts(message: unknown): { readonly text: string; readonly fields: LogFields } {
  if (message instanceof Error) return { text: message.message, fields: {} };
  if (typeof message !== 'object' || message === null) return { text: String(message), fields: {} };
  const { msg, ...fields } = message as LogFields;
  return { text: typeof msg === 'string' ? msg : '', fields };
}
