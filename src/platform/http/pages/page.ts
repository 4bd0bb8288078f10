import { applyDecorators, Controller, HttpCode, Post } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { RouteConfig, RouteConstraints } from '@nestjs/platform-fastify';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js';
import type { FastifyContextConfig } from 'fastify';
import { handlersIn } from '../../discovered-methods.js';
import type { EventMetadata } from '../../event-store/port.js';
import type { Page } from '../listeners.js';
import { readLocale, type Locale } from './locale.js';
import { fromRequest, toCause } from '../request-state.js';

export const OnPage = DiscoveryService.createDecorator<Page>();

/** Declares a controller whose routes are served only by the listener of the page. */
export function PageController(page: Page, path = ''): ClassDecorator {
  return (target) => {
    // Nest passes constraints of methods to Fastify, but not those of classes.
    for (const [name, value] of handlersIn(target))
      RouteConstraints({ listener: page.name })(target.prototype as object, name, { value });
    applyDecorators(Controller(path), OnPage(page))(target);
  };
}

declare module 'fastify' {
  interface FastifyContextConfig {
    sharedWith?: { readonly page: Page; readonly url: string };
  }
}

function readConfigOf(handler: object): FastifyContextConfig {
  return (Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) ?? {}) as FastifyContextConfig;
}

export function findSharedRoute(handler: object): NonNullable<FastifyContextConfig['sharedWith']> | null {
  return readConfigOf(handler).sharedWith ?? null;
}

/** Serves a route also on the listener of the page, at `url`. */
export const SharedWith =
  (page: Page, url: string): MethodDecorator =>
  (target, key, method) =>
    RouteConfig({ ...readConfigOf(method.value as object), sharedWith: { page, url } })(target, key, method);

/** Declares a POST for the script of a page, with status 200 for a success. */
export const PageCall = (path: string): MethodDecorator => applyDecorators(Post(path), HttpCode(200));

/** The identified visitor of a page, with the IP address, locale and event metadata of the request. */
export type Visit<Visitor = unknown> = Visitor & {
  readonly ip: string;
  readonly locale: Locale;
  readonly cause: EventMetadata;
};
export const Visit = fromRequest((request): Visit => {
  const { ip, edge } = request;
  return { ...(edge.visitor as object), ip, locale: readLocale(request), cause: toCause(request) };
});
