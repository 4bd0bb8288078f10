import {
  applyDecorators,
  Controller,
  createParamDecorator,
  HttpCode,
  Post,
  SetMetadata,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/internal';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { RouteConfig, RouteConstraints } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js';
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import type { HttpConfig, ProcessConfig } from '../../config/config.js';
import type { EventMetadata } from '../../event-store/port.js';
import { causeOf } from '../decorators.js';
import { BodyInterceptor } from '../request-body.js';
import type { PageMessages } from './document.js';
import { localeOf, type Locale } from './locale.js';
import { requestOf } from '../request-state.js';

/**
 * A page for people, with its own listener (its own origin). A context declares it once and serves it with
 * {@link PageController}s (docs/adr/0172).
 */
export interface Page {
  /** Its folder in widgets/. */
  readonly name: string;
  /** Its built files are at `<path>/assets/<file>`. */
  readonly path: string;
  /** Processes with this role serve it. */
  readonly role: Exclude<ProcessConfig['roles'][number], 'api' | 'worker'>;
  readonly port: (config: HttpConfig) => number;
  readonly messages: Readonly<Record<Locale, PageMessages>>;
  /** What it may load and display besides scripts and styles: directives of CSP. */
  readonly media: string;
  /** How long a browser may take to send a request. */
  readonly requestTimeoutMs: number;
}

export type PageHandler = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** The page that a controller belongs to. */
export const OnPage = DiscoveryService.createDecorator<Page>();

/** The handlers of the routes of a controller, by name. */
export function handlersIn({ prototype }: Pick<Type, 'prototype'>): readonly (readonly [string, object])[] {
  const methods = prototype as Readonly<Record<string, object>>;
  return new MetadataScanner()
    .getAllMethodNames(methods)
    .map((name) => [name, methods[name]!] as const)
    .filter(([, method]) => Reflect.hasMetadata(METHOD_METADATA, method));
}

/** A controller whose routes are reachable on the listener of the page and nowhere else. */
export function PageController(page: Page, path = ''): ClassDecorator {
  return (target) => {
    // Nest passes the constraints of methods to Fastify, not those of classes.
    for (const [name, value] of handlersIn(target))
      RouteConstraints({ listener: page.name })(target.prototype as object, name, { value });
    applyDecorators(Controller(path), OnPage(page))(target);
  };
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** By {@link SharedWith}. */
    sharedWith?: { readonly page: Page; readonly url: string };
  }
}

function configOf(handler: object): FastifyContextConfig {
  return (Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) ?? {}) as FastifyContextConfig;
}

/** Where a page serves the handler in addition to its own path; null for most handlers. */
export function sharedRouteOf(handler: object): NonNullable<FastifyContextConfig['sharedWith']> | null {
  return configOf(handler).sharedWith ?? null;
}

/** Serves the route of another listener on that of the page too, at this path. */
export const SharedWith =
  (page: Page, url: string): MethodDecorator =>
  (target, key, method) =>
    RouteConfig({ ...configOf(method.value as object), sharedWith: { page, url } })(target, key, method);

/** A call of a page's script: POST, 200. */
export const PageCall = (path: string): MethodDecorator => applyDecorators(Post(path), HttpCode(200));

/** Takes a body of any type, as a Buffer of less than this many bytes. */
export const BytesBelow = (limit: number): MethodDecorator => SetMetadata(BodyInterceptor.LIMIT, limit);

/** What a guard of the page left in `request.edge.visitor`, and what else a use case needs of a request. */
export type Visit<Visitor = unknown> = Visitor & {
  readonly ip: string;
  readonly locale: Locale;
  readonly cause: EventMetadata;
};
export const Visit = createParamDecorator((_: unknown, context: ExecutionContext): Visit => {
  const request = requestOf(context);
  const { ip, edge } = request;
  return { ...(edge.visitor as object), ip, locale: localeOf(request), cause: causeOf(request) };
});
