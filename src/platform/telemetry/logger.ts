import { Injectable, type LoggerService } from '@nestjs/common';
import pino from 'pino';
import type { Config } from '../config/config.js';
import { redact, redactText } from './redaction.js';

/** What a line tells, by name. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Bytes gathered before the log is written, and how long they may wait. */
const BUFFER_BYTES = 4096;
const FLUSH_MS = 250;

/**
 * The structured log: JSON lines through a buffer that is written in the background, when it is full, at intervals and
 * on exit. `kill -9` may lose the last quarter of a second of it.
 */
export class Log {
  private readonly free: pino.Logger;
  private readonly wide: pino.Logger;
  private readonly timer: NodeJS.Timeout;

  private constructor(
    private readonly destination: ReturnType<typeof pino.destination>,
    level: string,
  ) {
    const base = { level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime };
    const formatters = { level: (label: string) => ({ level: label }) };
    this.wide = pino({ ...base, formatters }, destination);
    // Errors are made plain while they are redacted; pino's own serializer would see an object without a type.
    const serializers = { err: (shown: unknown) => shown };
    this.free = pino({ ...base, serializers, formatters: { ...formatters, log: redact } }, destination);
    this.timer = setInterval(() => this.flush(), FLUSH_MS).unref();
  }

  static open(config: Pick<Config, 'logLevel' | 'logFile'>): Log {
    const where = config.logFile === null ? { fd: 1 } : { dest: config.logFile, mkdir: true };
    return new Log(pino.destination({ ...where, sync: false, minLength: BUFFER_BYTES }), config.logLevel);
  }

  /** A line whose fields were chosen with care: no secrets, no personal data. Nothing is redacted, so it is cheap. */
  wideLog(message: string, fields: LogFields, level: 'info' | 'warn' | 'error' = 'info'): void {
    this.wide[level](fields, message);
  }

  /** A line with whatever there is to say; secrets and personal data are redacted by name and by form. */
  write(level: 'debug' | 'info' | 'warn' | 'error' | 'fatal', message: string, fields: LogFields = {}): void {
    this.free[level](fields, redactText(message));
  }

  flush(): void {
    this.destination.flush();
  }

  /** Writes what is buffered, and stops. */
  close(): void {
    clearInterval(this.timer);
    this.destination.flushSync();
  }
}

/** Nest's own log lines, in the same form. Hand it to `NestFactory.create(..., { logger })`. */
@Injectable()
export class NestLog implements LoggerService {
  constructor(private readonly sink: Log) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.line('info', message, rest);
  }
  warn(message: unknown, ...rest: unknown[]): void {
    this.line('warn', message, rest);
  }
  error(message: unknown, ...rest: unknown[]): void {
    this.line('error', message, rest);
  }
  fatal(message: unknown, ...rest: unknown[]): void {
    this.line('fatal', message, rest);
  }
  debug(message: unknown, ...rest: unknown[]): void {
    this.line('debug', message, rest);
  }
  verbose(message: unknown, ...rest: unknown[]): void {
    this.line('debug', message, rest);
  }

  private line(
    level: 'debug' | 'info' | 'warn' | 'error' | 'fatal',
    message: unknown,
    rest: unknown[],
  ): void {
    const context = rest.at(-1);
    const error = message instanceof Error ? message : rest.find((each) => each instanceof Error);
    const stack = rest.find((each) => typeof each === 'string' && each.includes('\n    at '));
    const text =
      typeof message === 'string'
        ? message
        : error instanceof Error
          ? error.message
          : JSON.stringify(message);
    this.sink.write(level, text, {
      ...(typeof context === 'string' && context !== stack ? { context } : {}),
      ...(error === undefined ? {} : { err: error }),
      ...(stack === undefined ? {} : { stack }),
    });
  }
}
