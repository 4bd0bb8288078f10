import type { Type } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/internal';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';

/** Creates a method decorator with a value. `discover` finds the decorated methods of all providers. */
export function methodDecorator<
  Value extends string | object,
  Method extends (...given: never[]) => unknown,
>() {
  const decorator = DiscoveryService.createDecorator<Value>();
  const declared = new Set<Value>();
  const decorate = (value: Value) => {
    declared.add(value);
    return <Own extends Method>(target: object, name: string, own: TypedPropertyDescriptor<Own>): void =>
      void decorator(value)(target, name, own);
  };
  const discover = (discovery: DiscoveryService): readonly { value: Value; call: Method }[] => {
    const scanner = new MetadataScanner();
    const providers = new Set(discovery.getProviders().map(({ instance }): unknown => instance));
    return [...providers]
      .filter((provider) => typeof provider === 'object' && provider !== null)
      .flatMap((provider) =>
        scanner.getAllMethodNames(Object.getPrototypeOf(provider) as object).flatMap((name) => {
          const method = Reflect.get(provider, name) as Method;
          const value = Reflect.getMetadata(decorator.KEY, method) as Value | undefined;
          return value === undefined ? [] : [{ value, call: method.bind(provider) as Method }];
        }),
      );
  };
  return Object.assign(decorate, { declared, discover });
}

/** Returns the route handlers of a controller with their method names. */
export function handlersIn({ prototype }: Pick<Type, 'prototype'>): readonly (readonly [string, object])[] {
  const methods = prototype as Readonly<Record<string, object>>;
  return new MetadataScanner()
    .getAllMethodNames(methods)
    .map((name) => [name, methods[name]!] as const)
    .filter(([, method]) => Reflect.hasMetadata(METHOD_METADATA, method));
}
