/* What C and C++ programs use beside the header of a compiled program, whatever notation it was written in: the handler
 * of errors.
 *
 * C11 and later, C++11 and later. Link with the runtime, libstrata.a (`pkg-config --libs strata`); a shared library
 * made by `strata build` has it inside. Every function may be called from any thread. docs/from-c.md goes through an
 * example. */
#ifndef STRATA_H
#define STRATA_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- errors -------------------------------------------------------------------------------------------------------
 */

/* `code` names the kind of error in kebab case ("entry-overlap"); `message` is one line without a line break. Both are
 * valid during the call of the handler only. */
typedef void (*strataErrorHandler_t)(const char* code, const char* message);

/* Sets what is called when something is wrong, for the whole process; returns what was set before. Null, which is the
 * default: the message is printed on stderr and the program ends with status 1.
 *
 * The handler is called in one of two situations, which strataIsFatal() tells apart:
 * 1. The arguments of a call of an entry point are wrong: a null pointer, a size that is negative or does not follow
 *    from the others, a precondition of the mapping, arguments that overlap. It is called on the thread of the call,
 *    which holds nothing and has read and written no element. The handler may return: the entry point then returns at
 *    once. It may also leave by longjmp, to a setjmp of that thread. In both cases the next call works as if this one
 *    had not been.
 * 2. A program that runs has met an error (an index out of range, no memory): strataIsFatal() is 1. It may be any
 *    thread, others are still at work, and the computation cannot go on: the handler may write, clean up and end the
 *    process in its own way; when it returns, the process ends with status 1. It must not jump.
 * In neither case may a C++ exception leave it. In situation 1 several threads can be in the handler at once. */
strataErrorHandler_t strataSetErrorHandler(strataErrorHandler_t handler);

/* Within a handler: 1 when the process ends as soon as the handler returns, else 0. */
int strataIsFatal(void);

/* Reports an error as a wrong argument is. Entry points call it; so may functions that a program calls. */
void strataRaiseError(const char* code, const char* message);

#ifdef __cplusplus
}
#endif

#endif
