import 'reflect-metadata';
import { runProgram } from '../src/cli.js';
import { withRunningSandbox } from './running-sandbox.js';

void runProgram(process.argv.slice(2), withRunningSandbox);
