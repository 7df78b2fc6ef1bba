/* Loads an FMU of FMI 3.0 as a program does that is not Python, steps it once, and prints an output.
   Arguments: library, folder of the resources, token, reference of an input, its value, reference of the output. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void print_message(void *environment, int status, const char *category, const char *text)
{
    (void)environment, (void)status, (void)category;
    puts(text);
}

static void *library;

static void *find(const char *name)
{
    void *found = dlsym(library, name);
    if (!found)
        puts(dlerror()), exit(2);
    return found;
}

int main(int argc, char **argv)
{
    if (argc != 7 || !(library = dlopen(argv[1], RTLD_NOW)))
        return puts(argc == 7 ? dlerror() : "six arguments are needed"), 3;
    void *(*instantiate)(const char *, const char *, const char *, bool, bool, bool, bool, const uint32_t *, size_t,
                         void *, void *, void *) = find("fmi3InstantiateCoSimulation");
    int (*begin)(void *, bool, double, double, bool, double) = find("fmi3EnterInitializationMode");
    int (*end)(void *) = find("fmi3ExitInitializationMode");
    int (*set)(void *, const uint32_t *, size_t, const double *, size_t) = find("fmi3SetFloat64");
    int (*step)(void *, double, double, bool, bool *, bool *, bool *, double *) = find("fmi3DoStep");
    int (*get)(void *, const uint32_t *, size_t, double *, size_t) = find("fmi3GetFloat64");
    void *model = instantiate("driver", argv[3], argv[2], false, false, false, false, NULL, 0, NULL, print_message, NULL);
    if (!model)
        return 4;
    uint32_t input = atoi(argv[4]), output = atoi(argv[6]);
    double value = atof(argv[5]), last;
    bool event, terminate, early;
    int bad = begin(model, false, 0, 0, false, 0) | end(model) | set(model, &input, 1, &value, 1);
    bad |= step(model, 0, 0.005, true, &event, &terminate, &early, &last) | get(model, &output, 1, &value, 1);
    printf("%.17g\n", value);
    return bad;
}
